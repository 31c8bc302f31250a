//! Values that know where in the file they are.

use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use toml::Spanned;

/// A value and its span; the schema has the value alone.
#[derive(Debug, Deserialize)]
#[serde(transparent, bound(deserialize = "T: Deserialize<'de>"))]
pub(crate) struct Located<T>(Spanned<T>);

impl<T> Deref for Located<T> {
    type Target = Spanned<T>;

    fn deref(&self) -> &Spanned<T> {
        &self.0
    }
}

impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
