//! Values that are written short, as a text, or long, as a table or a list of tables.

/// Implements reading (serde) and the JSON Schema of a value that is a text or a table.
///
/// `$text` makes the value of a text; it may fail with anything that can be shown. `$table` is the
/// type that reads the table, of which `$of_table` makes the value. With `list`, a list of such
/// tables is read too, of which `$of_list` makes the value.
macro_rules! text_or_table {
    (
        $type:ident, $name:literal, $about:literal, $expecting:literal,
        text($text_schema:ty): $text:expr, table($table:ty): $of_table:expr
        $(, list: $of_list:expr)? $(,)?
    ) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        ($text)(text).map_err(E::custom)
                    }
                    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$type, E> {
                        self.visit_str(&number.to_string())
                    }
                    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<$type, E> {
                        self.visit_str(&number.to_string())
                    }
                    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<$type, E> {
                        self.visit_str(&number.to_string())
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> Result<$type, A::Error> {
                        let map = serde::de::value::MapAccessDeserializer::new(map);
                        <$table as serde::Deserialize>::deserialize(map).map($of_table)
                    }
                    $(fn visit_seq<A: serde::de::SeqAccess<'de>>(
                        self,
                        list: A,
                    ) -> Result<$type, A::Error> {
                        let list = serde::de::value::SeqAccessDeserializer::new(list);
                        <Vec<$table> as serde::Deserialize>::deserialize(list).map($of_list)
                    })?
                }
                deserializer.deserialize_any(Visitor)
            }
        }
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut forms = vec![generator.subschema_for::<$text_schema>()];
                forms.push(generator.subschema_for::<$table>());
                $(
                    let _: fn(Vec<$table>) -> $type = $of_list;
                    forms.push(generator.subschema_for::<Vec<$table>>());
                )?
                schemars::json_schema!({ "description": $about, "anyOf": forms })
            }
        }
    };
}
pub(crate) use text_or_table;
