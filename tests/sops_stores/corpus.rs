//! Small documents with every trait that has shown a difference, made known by name.

use infra::secrets::sops::Format;

/// A document.
pub struct Case {
    pub name: &'static str,
    pub format: Format,
    pub text: &'static [u8],
    /// Releases before 3.13 write it otherwise: they lose a comment or the end of a number.
    pub recent: bool,
}

impl Case {
    /// Returns the name of its file.
    pub fn file(&self, mark: &str) -> String {
        let ending = match self.format {
            Format::Yaml => "yaml",
            Format::Json => "json",
            Format::Dotenv => "env",
            Format::Ini => "ini",
            Format::Binary => "bin",
        };
        format!("{}{mark}.{ending}", self.name)
    }
}

const fn case(format: Format, name: &'static str, text: &'static str) -> Case {
    Case { name, format, text: text.as_bytes(), recent: false }
}

const fn recent(format: Format, name: &'static str, text: &'static str) -> Case {
    Case { name, format, text: text.as_bytes(), recent: true }
}

/// The documents.
pub const CASES: &[Case] = &[
    case(Format::Yaml, "plain", "a: 1\nb: two words\nc: true\nd: ~\n"),
    case(Format::Yaml, "comment_at_top", "# 1\n\n# 2\na: 1\n"),
    case(Format::Yaml, "comment_beside_values", "a: 1 # x\nb: \"q\" # y\nc: # z\n  d: 1 # w\n"),
    case(Format::Yaml, "comment_between_keys", "a: 1\n\n# 1\n\n# 2\nb: 2\n# 3\n\n\n# 4\n\nc: 3\n"),
    case(Format::Yaml, "comment_at_end", "a: 1\n# 1\n\n# 2\n"),
    case(
        Format::Yaml,
        "comment_in_nested_maps",
        "a: # 1\n  b: # 2\n    c: 1 # 3\n    # 4\n  # 5\n# 6\nd: 1\n",
    ),
    case(
        Format::Yaml,
        "comment_deeper_and_less_deep",
        "a:\n  b:\n    c: 1\n  # x\n  d: 2\n# y\ne: 3\n  # z\nf: 4\n",
    ),
    case(
        Format::Yaml,
        "comment_in_lists",
        "a:\n# 1\n- x # 2\n# 3\n- # 4\n  y\n- # 5\n  k: v\n# 6\n-\n  # 7\n  k: v\n  # 8\n# 9\nb: 1\n",
    ),
    case(Format::Yaml, "comment_in_list_with_gaps", "a:\n  - x\n  # 1\n\n  # 2\n  - y\n\n  # 3\nb: 1\n"),
    case(Format::Yaml, "comment_before_a_scalar", "a: # 1\n  # 2\n  v # 3\n  # 4\nb: 5\n"),
    case(Format::Yaml, "comment_below_nothing", "a:\n  # only\nb: 1\n"),
    case(Format::Yaml, "comment_signs", "#\n# \n##\n#!x\na: 1 #\n"),
    case(Format::Yaml, "comment_beside_several_lines", "a: \"x\n  y\" # c\nb: x\n  y # d\n"),
    case(Format::Yaml, "comment_beside_block", "a: | # c\n  x\nb: >- # d\n  y\n  z\n"),
    case(Format::Yaml, "comment_after_block", "a: |\n  # no comment\n  x\n# real\nb: 1\n"),
    case(Format::Yaml, "comment_less_deep_than_block", "a:\n  b: |\n    x\n # odd\nc: 1\n"),
    case(Format::Yaml, "comment_beside_anchor", "a: &x # c\n  b: 1\nc: 2\n"),
    case(
        Format::Yaml,
        "comment_with_cr",
        "# 1\r\na: 1 # x\r\n# 2\r\n\r\n# 3\r\nb:\r\n  c: 1\r\n  # 4\r\nd: 2\r\n",
    ),
    case(Format::Yaml, "comment_unicode", "# 🔐 größe\na: 1\n"),
    case(Format::Yaml, "anchor_of_map", "a: &x\n  k: v\nb: *x\nc: [*x, *x]\n"),
    case(Format::Yaml, "anchor_of_scalar", "a: &x \"s\"\nb: *x\nc: &x 2\nd: *x\n"),
    case(Format::Yaml, "anchor_of_key", "&k a: 1\nb: *k\n"),
    case(Format::Yaml, "merge_key", "a: &x {k: v}\nb:\n  <<: *x\n  z: 1\n"),
    case(Format::Yaml, "merge_key_with_list", "a: &x {k: v}\nb:\n  <<: [*x, {q: 1}]\n"),
    case(Format::Yaml, "block_literal", "a: |\n  x\n   y\n\n\nb: |-\n  x\n\nc: |+\n  x\n\n\nd: 1\n"),
    case(
        Format::Yaml,
        "block_folded",
        "a: >\n  one\n  two\n\n  three\n    four\n  five\nb: >-\n\n  x\n\nc: >+\n  y\n\n\nd: 1\n",
    ),
    case(
        Format::Yaml,
        "block_with_indent",
        "d: |2\n    lead\ne: |2-\n   x\nf: |\n\n  lead\ni: >2\n   x\nj: 1\n",
    ),
    case(Format::Yaml, "block_empty", "g: |\n\nh: |+\n\nj: 1\n"),
    case(Format::Yaml, "block_kept_at_end", "a: |+\n  x\n\n"),
    case(Format::Yaml, "block_cut_off", "a: |\n  x"),
    case(Format::Yaml, "block_in_list", "a:\n- |\n  x\n- >-\n  y\n  z\n"),
    case(Format::Yaml, "block_with_trailing_space", "a: |\n  x \n  y\n"),
    case(Format::Yaml, "block_with_tab", "a: |\n  x\ty\n  z\n"),
    case(
        Format::Yaml,
        "unicode",
        "é: ü\n漢字: 日本語\nemoji: 🔐 key\n🔑: v\nnbsp: x\u{a0}y\nzero: \u{200b}z\nprivate: \"\\ue000\"\n",
    ),
    case(Format::Yaml, "control_signs", "a: \"\\0\\a\\e\\_\\N\"\nb: \"\\x7f\\x80\"\nc: \"a\\tb\"\n"),
    case(Format::Yaml, "byte_order_mark", "\u{feff}# c\na: 1\n"),
    case(Format::Yaml, "carriage_returns", "a: 1\r\nb: |\r\n  x\r\n  y\r\nc: \"a\r\n  b\"\r\n"),
    case(Format::Yaml, "tabs", "a:\t1\nb: \"x\ty\"\nc: x\ty\n"),
    case(Format::Yaml, "trailing_spaces", "a: 1   \nb:   \n  c: 2  \n"),
    case(Format::Yaml, "empty_collections", "a: {}\nb: []\nc:\n  - {}\n  - []\nd: [ ]\n"),
    case(Format::Yaml, "empty_document", "{}\n"),
    case(
        Format::Yaml,
        "ints",
        "a: 017\nb: 0o17\nc: 0x1F\nd: 1_000\ne: 0b11\nf: -0b11\ng: +5\nh: 08\ni: 0\nj: -0\nl: 9223372036854775807\nm: -9223372036854775808\no: 00\nq: _1\n",
    ),
    case(Format::Yaml, "ints_too_big", "a: 99999999999999999999\nb: -99999999999999999999\n"),
    case(
        Format::Yaml,
        "floats",
        "a: 1e3\nb: 1.5e300\nc: .5\nd: 5.\ne: 1e-7\nf: 123456789.12345679\nj: 1e400\nk: 1_0.5\nl: 0.1\nn: 1E5\no: 100000.0\np: 1000000.0\nq: 6.02e23\ns: 1.e5\nu: 1e\nv: 12345678901234567890.5\n",
    ),
    case(Format::Yaml, "floats_not_finite", "g: .inf\nh: -.INF\nr: +.inf\n"),
    case(
        Format::Yaml,
        "bools_and_nulls",
        "a: True\nb: FALSE\nd: tRUE\ne: yes\nf: no\ng: on\ni: y\nj:\nk: ~\nl: NULL\nm: nULL\nn: \"\"\n",
    ),
    case(
        Format::Yaml,
        "times",
        "a: 2024-01-31\nb: 2024-01-31T10:00:00Z\nc: 2024-01-31 10:00:00\nd: 2024-01-31t1:2:3.45+02:00\ne: 2024-02-30\nf: 2024-1-2\ng: 2024-01-31T10:00:00\ni: \"2024-01-31\"\nj: 2024-01-31T10:00:00.5Z\n",
    ),
    case(
        Format::Yaml,
        "tags",
        "a: !!str 1\nb: !!int 3\nc: !!float 3\nd: !!binary aGk=\ne: !foo bar\ng: !!bool true\n",
    ),
    case(
        Format::Yaml,
        "scalars_over_lines",
        "a: one\n  two\n\n  three\nb: \"one\n  two\\\n  three\n\n  four\"\nc: 'x\n\n  y'\n",
    ),
    case(
        Format::Yaml,
        "quotes",
        "a: 'it''s'\nb: \"q\\\"q\"\nc: \"\\x41\\u00e9\\U0001F510\"\nf: ''\ng: \"  \"\nh: '# x'\ni: \"a: b\"\nj: \"- x\"\nk: \"a\\nb\"\nl: \"a\\n\"\nm: \"\\n\"\np: \"a \\nb\"\nq: \"a\\n b\"\nr: \"a\\r\\nb\"\n",
    ),
    case(
        Format::Yaml,
        "indicators",
        "a: -x\nb: ?x\nc: :x\nd: x:y\ne: x#y\nf: a - b\ng: \"@x\"\nh: \"%x\"\ni: \"`x\"\nj: \"!x\"\nk: \"&x\"\nl: \"*x\"\nm: \"a, b\"\nn: \"[x\"\no: \"=x\"\np: \"=\"\nr: \"<\"\ns: \"...\"\nt: \"---x\"\nu: \"~\"\nw: \"12:30\"\ny: \"0.1.2\"\nz: \"1e5x\"\n",
    ),
    case(
        Format::Yaml,
        "flow",
        "a: {b: 1, c: [2, {d: 3}], \"e\": f}\nb: [a: 1, b]\nc: {x, y}\nd: {a: , b: }\ng: [1,2,]\nh: {a: 1,}\n",
    ),
    case(Format::Yaml, "json_as_yaml", "{\"a\":1,\"b\":[true,null]}\n"),
    case(
        Format::Yaml,
        "odd_keys",
        "\"a b\": 1\n'c': 2\n\"x: y\": 3\n\"#h\": 4\n\"\": 5\n\"1\": 6\n\"true\": 7\n\"- x\": 8\n\"<\": 9\n",
    ),
    case(Format::Yaml, "key_with_separators", "\"a\\Lb\": x\n\"\\P\\Lc \\P\": {\"d\\L\": y}\n"),
    case(Format::Yaml, "key_over_lines", "? |\n  multi\n  line\n: v\n? \"a\\nb\"\n: {x: 1}\n? k\n? l\n: z\n"),
    case(
        Format::Yaml,
        "key_too_long",
        "jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj: 1\n? kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\n: a: 1\n  b: 2\n? lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll\n: - 1\n",
    ),
    case(Format::Yaml, "lists_in_lists", "a:\n- - - x\n    - y\n  - z\n- b: 1\n  c:\n  - d\n-\n- ~\n"),
    case(Format::Yaml, "documents", "a: 1\n---\nb: 2\n---\n# c\nd: 3\n...\n"),
    case(Format::Yaml, "documents_with_comments", "# 1\n---\n# 2\na: 1\n# 3\n---\n# 4\nb: 1\n# 5\n"),
    case(Format::Yaml, "documents_empty", "a: 1\n---\n---\nb: 1\n"),
    recent(
        Format::Yaml,
        "comment_in_brackets",
        "a: [ # 1\n  x, # 2\n  # 3\n  y # 4\n  # 5\n] # 6\nb: { # 7\n  k: v, # 8\n  # 9\n  l: w # 10\n  # 11\n} # 12\n# 13\n",
    ),
    recent(Format::Yaml, "comment_beside_empty", "a: {} # x\nb: [] # y\n# z\nc: 1\n"),
    case(
        Format::Json,
        "plain",
        "{\"a\":1,\"b\":[1,2.5,\"x\",null,true,{}],\"c\":{},\"d\":[],\"e\":\"<&>\\u2028\\u0001\\b\\f\\n/\\/\"}",
    ),
    case(
        Format::Json,
        "numbers",
        "{\"f\":1e21,\"g\":1e-7,\"h\":1.0,\"k\":1E5,\"l\":123456789.123456789,\"m\":100000000000000000000,\"n\":1.7976931348623157e308,\"o\":5e-324}",
    ),
    case(Format::Json, "unicode", "{\"é\":\"🔐\",\"\\ud83d\\udd11\":1}"),
    case(Format::Json, "empty", "{}"),
    case(Format::Json, "nested", "{\"a\":{\"b\":{\"c\":[[1],[2,[3]]]}}}"),
    recent(
        Format::Json,
        "big_ints",
        "{\"a\":9007199254740993,\"b\":9223372036854775807,\"c\":12345678901234567890}",
    ),
    case(Format::Dotenv, "plain", "# c\nA=1\n\nB= x y \nC=\"q\"\nD=a\\nb\nE=\n#d\nF==\n"),
    case(Format::Dotenv, "carriage_returns", "A=1\r\n# c\r\n"),
    case(Format::Dotenv, "unicode", "A=é🔐\nB=漢"),
    case(Format::Dotenv, "twice", "A=1\nA=2\n"),
    case(Format::Ini, "plain", "top=1\nother = two\n[s]\nk = v\n"),
    case(Format::Ini, "comments", "; c1\n; c2\n[s]\n# k1\n# k2\nk = v ; inline\nl: w # in\n"),
    case(
        Format::Ini,
        "quotes",
        "[s]\nq=\"a b\"\nr='x'\ns=`a#b`\nt=\"\"\"m\nn\"\"\"\nv=x\\\n  y\nw=a;b\nx=\" sp \"\nz = a=b:c\n",
    ),
    case(Format::Ini, "odd_keys", "[s]\n\"q k\" = 1\n`b=c` = 2\n\"\"\"t`k\"\"\" = 3\n"),
    case(Format::Ini, "sections", "[s] ; sc\nk=v\n[t] # tc\n[u]\n\n\nk=1\n[ s p ]\nk=v\n[u]\nl=2\n"),
    case(Format::Ini, "carriage_returns", "k=v\r\n; c\r\n[s]\r\n; e\r\nk=v\r\n"),
    case(Format::Ini, "unicode", "[é]\nключ = 漢 🔐\nk=ü\n"),
    case(Format::Binary, "text", "-----BEGIN KEY-----\nabc\n"),
    Case { name: "bytes", format: Format::Binary, text: &[0, 255, 10, 13, 128, 200], recent: false },
];

/// Texts that sops does not take.
pub const REFUSED: &[(&str, &str)] = &[
    ("list.yaml", "- a\n"),
    ("scalar.yaml", "foo\n"),
    ("comment_only.yaml", "# hi\n"),
    ("key_twice.yaml", "a: 1\na: 2\n"),
    ("key_twice_below.yaml", "x:\n  a: 1\n  a: 2\n"),
    ("key_is_a_number.yaml", "1: a\n"),
    ("key_is_null.yaml", "~: a\n"),
    ("key_is_a_list.yaml", "? [a]\n: b\n"),
    ("too_large.yaml", "a: 9223372036854775808\n"),
    ("alias_of_nothing.yaml", "a: *y\n"),
    ("alias_of_itself.yaml", "a: &x\n  b: *x\n"),
    ("merge_of_a_text.yaml", "<<: x\n"),
    ("tag_that_does_not_fit.yaml", "a: !!int x\n"),
    ("quote_without_end.yaml", "a: \"x\n"),
    ("bracket_without_end.yaml", "a: [1, 2\n"),
    ("indented_by_tab.yaml", "a:\n\tb: 1\n"),
    ("indented_wrongly.yaml", "a:\n    b: 1\n  c: 2\n"),
    ("list.json", "[1]"),
    ("no_sign.env", "A\n"),
    ("no_sign.ini", "[s]\nkey\n"),
    ("no_bracket.ini", "[s\nk=v\n"),
];
