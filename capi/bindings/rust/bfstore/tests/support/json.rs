//! A JSON reader without another crate, for the tables that the tests of all languages share. It panics on errors.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Text(String),
    Number(f64),
    List(Vec<Json>),
    Map(BTreeMap<String, Json>),
}

impl Json {
    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            other => panic!("{other:?} is no text"),
        }
    }

    pub fn number(&self) -> f64 {
        match self {
            Json::Number(number) => *number,
            other => panic!("{other:?} is no number"),
        }
    }

    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(list) => list,
            other => panic!("{other:?} is no list"),
        }
    }

    pub fn map(&self) -> &BTreeMap<String, Json> {
        match self {
            Json::Map(map) => map,
            other => panic!("{other:?} is no map"),
        }
    }
}

pub fn parse(text: &str) -> Json {
    let mut reader = Reader(text.chars().peekable());
    let value = reader.value();
    reader.space();
    assert_eq!(reader.0.next(), None, "something after the value");
    value
}

struct Reader<'t>(Peekable<Chars<'t>>);

impl Reader<'_> {
    fn space(&mut self) {
        while self.0.next_if(|unit| unit.is_ascii_whitespace()).is_some() {}
    }

    fn peek(&mut self) -> char {
        self.space();
        *self.0.peek().expect("the end")
    }

    fn expect(&mut self, wanted: char) {
        assert_eq!(self.peek(), wanted);
        self.0.next();
    }

    fn value(&mut self) -> Json {
        match self.peek() {
            '{' => Json::Map(
                self.items('{', '}', |reader| {
                    let name = reader.string();
                    reader.expect(':');
                    (name, reader.value())
                })
                .into_iter()
                .collect(),
            ),
            '[' => Json::List(self.items('[', ']', Reader::value)),
            '"' => Json::Text(self.string()),
            _ => self.number(),
        }
    }

    fn items<T>(&mut self, open: char, close: char, item: impl Fn(&mut Self) -> T) -> Vec<T> {
        self.expect(open);
        let mut items = Vec::new();
        while self.peek() != close {
            if !items.is_empty() {
                self.expect(',');
            }
            items.push(item(self));
        }
        self.expect(close);
        items
    }

    fn number(&mut self) -> Json {
        let mut digits = String::new();
        while let Some(unit) = self.0.next_if(|unit| "+-.eE0123456789".contains(*unit)) {
            digits.push(unit);
        }
        Json::Number(digits.parse().unwrap())
    }

    fn string(&mut self) -> String {
        self.expect('"');
        let mut units = Vec::new();
        loop {
            match self.0.next().expect("the end of the text") {
                '"' => return String::from_utf16(&units).unwrap(),
                '\\' => units.push(self.escape()),
                other => units.extend_from_slice(other.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn escape(&mut self) -> u16 {
        match self.0.next().unwrap() {
            'u' => (0..4).fold(0, |unit, _| unit * 16 + self.0.next().unwrap().to_digit(16).unwrap() as u16),
            'n' => b'\n'.into(),
            't' => b'\t'.into(),
            plain => {
                assert!("\"\\/".contains(plain), "\\{plain}");
                plain as u16
            }
        }
    }
}
