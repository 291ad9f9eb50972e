//! Templates made at random, the same ones each time: whatever Jinja2 renders must come out the
//! same here.

/// A small generator of numbers that look random.
pub struct Dice(u64);

const EXPRESSIONS: &[&str] = &[
    "name",
    "number",
    "list",
    "map",
    "nodes",
    "1",
    "2.5",
    "'s'",
    "'a b'",
    "true",
    "none",
    "[1, 2]",
    "{'k': 1}",
    "(1, 2)",
    "map.a",
    "nodes[0].name",
    "list[1]",
    "missing",
    "float",
    "''",
    "nested.one",
    "-3",
    "0",
];

const OPERATORS: &[&str] =
    &["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">=", "in", "not in", "and", "or"];

const FILTERS: &[&str] = &[
    "length",
    "upper",
    "list",
    "string",
    "int",
    "float",
    "first",
    "last",
    "join(',')",
    "tojson",
    "default('d')",
    "default('d', true)",
    "sort",
    "reverse",
    "sum",
    "title",
    "abs",
    "round(1)",
    "unique|list",
    "trim",
    "capitalize",
    "wordcount",
    "max",
    "min",
    "batch(2)|list",
    "e",
    "urlencode",
    "tojson(2)",
    "replace('a', 'x')",
    "truncate(5)",
    "center(7)",
    "indent(2)",
    "items|list",
    "dictsort",
    "map('string')|list",
    "select|list",
    "format(1)",
    "int(5)",
];

const TESTS: &[&str] = &[
    "defined",
    "none",
    "string",
    "number",
    "mapping",
    "sequence",
    "iterable",
    "odd",
    "boolean",
    "float",
    "integer",
    "in list",
    "eq 1",
    "undefined",
    "lower",
];

const METHODS: &[&str] = &[
    "upper()",
    "split()",
    "items()|list",
    "keys()|list",
    "get('a')",
    "startswith('s')",
    "strip()",
    "append(1)",
    "count('a')",
    "copy()",
    "title()",
];

const TEXTS: &[&str] =
    &["\n", "\n", "\n", " ", "  ", "\t", "a", "b: 1", "# c", "{ x }", "%", "}}", "-", "\n\n"];

impl Dice {
    /// Makes a generator that always throws the same.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % count
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Returns an expression of some depth.
    pub fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.below(3) == 0 {
            return self.pick(EXPRESSIONS).to_owned();
        }
        let [a, b, c] = [depth - 1; 3].map(|depth| self.expression(depth));
        match self.below(22) {
            0..=9 => format!("{a} {} {b}", self.pick(OPERATORS)),
            10 => format!("not {a}"),
            11 => format!("({a})"),
            12 => format!("{a} if {b} else {c}"),
            13 => format!("({a})[{}:{}]", self.pick(&["", "1", "-1", "0"]), self.pick(&["", "2", "-1", "5"])),
            14 => format!("{a}|{}", self.pick(FILTERS)),
            15 => format!("({a})|{}", self.pick(FILTERS)),
            16 => format!("{a} is {}", self.pick(TESTS)),
            17 => format!("[{a}, ({b}, {c})]"),
            18 => format!("{{'x': {a}, 'y': {b}}}"),
            19 => format!("({a}).{}", self.pick(METHODS)),
            20 => format!("'%s|%s' % ({a}, {b})"),
            _ => format!("({a})[{}]", self.below(3)),
        }
    }

    fn text(&mut self) -> String {
        (0..self.below(4)).map(|_| self.pick(TEXTS)).collect()
    }

    fn block(&mut self, body: &str) -> String {
        let [before, after] = [0; 2].map(|_| self.pick(&["", "", "", "-", "+"]));
        format!("{{%{before} {body} {after}%}}")
    }

    /// Returns text, tags and blocks within blocks, with every sign for white space.
    pub fn template(&mut self, depth: usize) -> String {
        let mut out = String::new();
        for _ in 0..=self.below(4) {
            out += &self.text();
            out += &self.piece(depth);
        }
        out + &self.text()
    }

    fn piece(&mut self, depth: usize) -> String {
        match self.below(if depth > 2 { 5 } else { 11 }) {
            0 => {
                format!("{{{{{} {} {}}}}}", self.pick(&["", "-"]), self.expression(2), self.pick(&["", "-"]))
            }
            1 => format!("{{#{} note {}#}}", self.pick(&["", "-", "+"]), self.pick(&["", "-", "+"])),
            2 => {
                let value = self.expression(2);
                self.block(&format!("set v = {value}"))
            }
            3 => self.block("include 'part.j2'"),
            // Jinja2 knows no `raw` with a plus at its end.
            4 => format!(
                "{{% raw {}%}}{}{{{{ r }}}}{}",
                self.pick(&["", "-"]),
                self.text(),
                self.block("endraw")
            ),
            5 => {
                let condition = self.expression(1);
                self.around(&format!("if {condition}"), "endif", "", depth)
            }
            6 => {
                let items = self.pick(&["list", "nodes", "map", "[]", "'ab'", "[1, 2]", "list if true"]);
                self.around(&format!("for x in {items}"), "endfor", "", depth)
            }
            7 => {
                let filter = self.pick(&["upper", "indent(2)", "trim", "replace('a', 'b')"]);
                self.around(&format!("filter {filter}"), "endfilter", "", depth)
            }
            8 => self.around("set t", "endset", "{{ t }}", depth),
            9 => self.around("with w = 1", "endwith", "", depth),
            _ => self.around("macro mm(q=1)", "endmacro", "{{ mm() }}", depth),
        }
    }

    fn around(&mut self, start: &str, end: &str, after: &str, depth: usize) -> String {
        [self.block(start), self.template(depth + 1), self.block(end), after.to_owned()].concat()
    }
}
