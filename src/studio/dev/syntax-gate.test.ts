import { describe, expect, it } from "vitest";
import { SyntaxGate } from "./syntax-gate.ts";

const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  one: ["one", "tools", "units"],
  two: ["two", "units"],
};

describe("the syntax gate", () => {
  const broken = new Set<string>();
  const gate = new SyntaxGate((file) => (broken.has(file) ? new SyntaxError(file) : undefined));
  const admit = (...changed: string[]): string[] =>
    gate.admitFiles(changed, ["one", "two"], (file) => IMPORTS[file] ?? []);

  it("holds a file that does not parse, and names it for the agents that import it", () => {
    broken.add("tools");
    expect(admit("tools", "units")).toEqual(["units"]);
    expect(gate.findError("one")).toMatchObject({ file: "tools", error: { message: "tools" } });
    expect(gate.findError("two")).toBeUndefined();
  });

  it("admits the file with the next change after its correction", () => {
    expect(admit("units")).toEqual(["units"]);
    expect(gate.findError("one")?.file).toBe("tools");
    broken.delete("tools");
    expect(admit("two")).toEqual(["two", "tools"]);
    expect(gate.findError("one")).toBeUndefined();
  });

  it("remembers the held file although the graph has forgotten the imports of the agent file", () => {
    broken.add("tools");
    admit("tools");
    const withoutImports = gate.admitFiles(["units"], ["one"], () => []);
    expect(withoutImports).toEqual(["units"]);
    expect(gate.findError("one")?.file).toBe("tools");
  });

  it("admits a file that no agent imports, such as a configuration", () => {
    broken.add("config");
    expect(gate.admitFiles(["config"], ["two"], (file) => IMPORTS[file] ?? [])).toContain("config");
  });
});
