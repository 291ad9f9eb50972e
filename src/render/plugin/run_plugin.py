"""Runs data() of makejinja plugins and prints the result as one line of JSON."""

import sys

# The folder of the project is no place to import from unless it is named.
sys.path = [path for path in sys.path if path not in ("", ".")]

import importlib
import inspect
import json
import types


class Anything:
    """Stands in for what plugins import from makejinja and jinja2 for their annotations."""

    def __init__(self, *args, **kwargs):
        pass

    def __init_subclass__(cls, **kwargs):
        pass

    def __class_getitem__(cls, item):
        return cls


class StandIn(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything


def stand_in(name):
    try:
        importlib.import_module(name)
    except ImportError:
        parent, _, child = name.rpartition(".")
        module = StandIn(name)
        sys.modules[name] = module
        if parent:
            setattr(sys.modules[parent], child, module)


def load(name):
    module, _, attribute = name.partition(":") if ":" in name else name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


with open(sys.argv[1], encoding="utf-8") as asked:
    asked = json.load(asked)
sys.path.extend(asked["import_paths"])
sys.dont_write_bytecode = True
for name in ["makejinja", "makejinja.plugin", "makejinja.config", "makejinja.loader", "jinja2", "jinja2.ext"]:
    stand_in(name)

data, refused = {}, []
for name in asked["plugins"]:
    plugin = load(name)
    wanted = inspect.signature(plugin).parameters
    offered = {"data": asked["data"], "env": Anything(), "environment": Anything(), "config": Anything()}
    plugin = plugin(**{key: value for key, value in offered.items() if key in wanted})
    for part in ["path_filters", "policies", "extensions"]:
        if hasattr(plugin, part) and getattr(plugin, part)():
            refused.append(part)
    if hasattr(plugin, "data"):
        data.update(plugin.data())
print()
print(json.dumps({"data": data, "refused": refused}, default=str))
