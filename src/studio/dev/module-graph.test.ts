import { array, assert, integer, property, tuple, uniqueArray } from "fast-check";
import { describe, expect, it } from "vitest";
import { ModuleGraph } from "./module-graph.ts";

describe("a module graph", () => {
  it("gives a changed file and its importers a new version, and no other file", () => {
    const graph = new ModuleGraph();
    graph.addImport(undefined, "agent");
    graph.addImport("agent", "tools");
    graph.addImport("tools", "units");
    graph.addImport("agent", "store");
    graph.addImport(undefined, "other");
    expect([...graph.invalidateFiles(["units"])].toSorted()).toEqual(["agent", "tools", "units"]);
    expect(["agent", "tools", "units", "store", "other"].map((file) => graph.getVersion(file))).toEqual([
      1, 1, 1, 0, 0,
    ]);
  });

  it("forgets the imports of a changed file, because its next version may import other files", () => {
    const graph = new ModuleGraph();
    graph.addImport("agent", "tools");
    graph.invalidateFiles(["agent"]);
    expect([...graph.invalidateFiles(["tools"])]).toEqual(["tools"]);
    expect([...graph.listImportedFiles("agent")]).toEqual(["agent"]);
  });

  it("lists the files of a failed import that no successful import has evaluated", () => {
    const graph = new ModuleGraph();
    graph.addImport(undefined, "agent");
    graph.addImport("agent", "tools");
    graph.addImport("agent", "store");
    expect(graph.listUnevaluatedFiles("agent")).toEqual(["agent", "tools", "store"]);
    graph.markEvaluated("agent");
    expect(graph.listUnevaluatedFiles("agent")).toEqual([]);
    graph.invalidateFiles(["tools"]);
    graph.addImport("agent", "tools");
    graph.addImport("agent", "store");
    expect(graph.listUnevaluatedFiles("agent")).toEqual(["agent", "tools"]);
  });

  it("invalidates exactly the files from which imports lead to a changed file", () => {
    const file = integer({ min: 0, max: 7 }).map(String);
    assert(
      property(array(tuple(file, file)), uniqueArray(file), (imports, changed) => {
        const graph = new ModuleGraph();
        for (const [importer, imported] of imports) graph.addImport(importer, imported);
        const expected = Array.from({ length: 8 }, (_, at) => String(at)).filter((start) =>
          changed.some((one) => graph.listImportedFiles(start).has(one)),
        );
        expect([...graph.invalidateFiles(changed)].toSorted()).toEqual(expected);
      }),
    );
  });
});
