//! Values that are written short, as a text, or long, as a table or a list of tables.

/// Declares a value that is a text or a table, how it is read (serde), and its JSON Schema: its
/// name there, what it is about, and what is expected in its place.
///
/// - `Short(T), Long(Table)` is an enum: a text is parsed as `T`.
/// - `list Table` is a list of tables, of which one may stand alone; `text(T)` makes the value of a
///   text described as a `T`, and may fail with anything that can be shown.
macro_rules! text_or_table {
    (
        $type:ident, $name:literal, $about:literal, $expecting:literal,
        $(#[$short_about:meta])* $short:ident($text:ty),
        $(#[$long_about:meta])* $long:ident($table:ty),
    ) => {
        #[doc = $about]
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
        #[serde(untagged)]
        pub enum $type {
            $(#[$short_about])*
            $short($text),
            $(#[$long_about])*
            $long($table),
        }
        text_or_table!(
            @read $type, $name, $about, $expecting,
            text($text): |text: &str| text.parse().map($type::$short), table($table): $type::$long
        );
    };
    (
        $type:ident, $name:literal, $about:literal, $expecting:literal,
        list $table:ty, text($text:ty): $of_text:expr
    ) => {
        #[doc = $about]
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
        #[serde(transparent)]
        pub struct $type(pub Vec<$table>);

        text_or_table!(
            @read $type, $name, $about, $expecting,
            text($text): $of_text, table($table): |table| $type(vec![table]),
            list(Vec<$table>): $type
        );
    };
    (
        @read $type:ident, $name:literal, $about:literal, $expecting:literal,
        text($text:ty): $of_text:expr, table($table:ty): $of_table:expr
        $(, list($list:ty): $of_list:expr)?
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
                        ($of_text)(text).map_err(E::custom)
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
                        <$list as serde::Deserialize>::deserialize(list).map($of_list)
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
                let forms = [
                    generator.subschema_for::<$text>(),
                    generator.subschema_for::<$table>(),
                    $(generator.subschema_for::<$list>(),)?
                ];
                schemars::json_schema!({ "description": $about, "anyOf": forms })
            }
        }
    };
}
pub(crate) use text_or_table;

/// Whether a value need not be written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
