"""Renders many templates with the real Jinja2, set up as makejinja sets it up."""

import json
import sys

from jinja2 import ChainableUndefined, DictLoader, Environment, StrictUndefined, Undefined

MODES = {"strict": StrictUndefined, "chainable": ChainableUndefined, "lenient": Undefined}
asked = json.load(sys.stdin)
answers = []
for case in asked["cases"]:
    env = Environment(
        loader=DictLoader(asked["templates"]),
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        undefined=MODES[case["mode"]],
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **{key + "_string": mark for key, mark in asked["marks"].items()},
    )
    env.globals.update(json.loads(json.dumps(asked["values"])))
    try:
        answers.append({"text": env.from_string(case["template"]).render()})
    except Exception as error:
        answers.append({"error": type(error).__name__ + ": " + str(error)})
json.dump(answers, sys.stdout)
