"""
Which function uses which: every `orch.call` and `orch.submit` of a program with its callee.

One walk of the module; symbols are looked up in one table a module, never by a scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from pypto_xdsl.analysis.kernels import with_functions
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects.orch import DispatchOp, FuncOp


class CallGraph:
    """The functions of a program and the calls and submits between them."""

    def __init__(self, module: Operation):
        self._functions: dict[FuncOp, list[DispatchOp]] = {}
        self._by_name: dict[tuple[Operation | None, str], FuncOp] = {}
        self._callees: dict[DispatchOp, FuncOp | None] = {}
        self._uses: dict[FuncOp, list[DispatchOp]] = {}
        self._function_of: dict[DispatchOp, FuncOp] = {}
        self._components: list[list[FuncOp]] | None = None
        self._component_of: dict[FuncOp, int] = {}
        self.stray_uses: list[DispatchOp] = []
        """The calls and submits that stand in no `orch.func`, of which nothing else is known."""
        for op, function in with_functions(module):
            if isinstance(op, FuncOp):
                self._enter(op)
            elif isinstance(op, DispatchOp):
                if function is None:
                    self.stray_uses.append(op)
                else:
                    self._functions[function].append(op)
                    self._function_of[op] = function
        for dispatch, function in self._function_of.items():
            self._resolve(dispatch, function)

    def add(self, function: FuncOp) -> None:
        """Take in a function that was made after the graph, and the uses inside it."""
        components = self.components()
        self._enter(function)
        for op in walk(function):
            if isinstance(op, DispatchOp):
                self._functions[function].append(op)
                self._function_of[op] = function
                self._resolve(op, function)
        # What it uses was used before, from the function it came out of.
        self._component_of[function] = len(components)
        components.append([function])

    def _enter(self, function: FuncOp) -> None:
        self._functions[function] = []
        self._uses.setdefault(function, [])
        self._by_name.setdefault((function.parent_op(), function.sym_name.data), function)

    def _resolve(self, dispatch: DispatchOp, function: FuncOp) -> None:
        callee = self._by_name.get((function.parent_op(), dispatch.callee_name))
        self._callees[dispatch] = callee
        if callee is not None:
            self._uses[callee].append(dispatch)

    @property
    def functions(self) -> Sequence[FuncOp]:
        """All functions, in the order of the text."""
        return tuple(self._functions)

    def function(self, name: str, beside: Operation) -> FuncOp | None:
        """The function of a name in the symbol table that holds `beside`."""
        return self._by_name.get((beside.parent_op(), name))

    def uses_in(self, function: FuncOp) -> Sequence[DispatchOp]:
        """The calls and submits in a function, at any depth, in the order of the text."""
        return self._functions.get(function, ())

    def uses_of(self, function: FuncOp) -> Sequence[DispatchOp]:
        """The calls and submits of a function, in the order of the text."""
        return self._uses.get(function, ())

    def callee(self, dispatch: DispatchOp) -> FuncOp | None:
        """The function that is used, or None if the program has none of that name."""
        return self._callees.get(dispatch)

    def caller(self, dispatch: DispatchOp) -> FuncOp:
        """The function that a call or submit stands in."""
        return self._function_of[dispatch]

    def callees(self, function: FuncOp) -> Iterator[FuncOp]:
        """The functions that a function uses, each once, in the order of first use."""
        found = (self._callees[dispatch] for dispatch in self.uses_in(function))
        return iter(dict.fromkeys(callee for callee in found if callee is not None))

    def is_recursive(self, dispatch: DispatchOp) -> bool:
        """Whether the callee may come to use the function that a call or submit stands in."""
        callee = self._callees.get(dispatch)
        if callee is None:
            return False
        self.components()
        caller = self._function_of[dispatch]
        return self._component_of[callee] == self._component_of[caller]

    def components(self) -> list[list[FuncOp]]:
        """
        The functions in groups of mutual recursion, callees before callers: the strongly
        connected components (Tarjan's algorithm, without recursion).
        """
        if self._components is None:
            self._components = list(self._find_components())
            self._component_of = {
                function: number
                for number, component in enumerate(self._components)
                for function in component
            }
        return self._components

    def _find_components(self) -> Iterator[list[FuncOp]]:
        index: dict[FuncOp, int] = {}
        lowest: dict[FuncOp, int] = {}
        open_functions: dict[FuncOp, None] = {}
        for root in self._functions:
            if root in index:
                continue
            path: list[tuple[FuncOp, Iterator[FuncOp]]] = []

            def enter(function: FuncOp, path: list[tuple[FuncOp, Iterator[FuncOp]]] = path) -> None:
                index[function] = lowest[function] = len(index)
                open_functions[function] = None
                path.append((function, self.callees(function)))

            enter(root)
            while path:
                function, callees = path[-1]
                callee = next(callees, None)
                if callee is not None:
                    if callee not in index:
                        enter(callee)
                    elif callee in open_functions:
                        lowest[function] = min(lowest[function], index[callee])
                    continue
                path.pop()
                if path:
                    caller = path[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[function])
                if lowest[function] == index[function]:
                    component: list[FuncOp] = []
                    while True:
                        member, _ = open_functions.popitem()
                        component.append(member)
                        if member is function:
                            break
                    yield component[::-1]
