import { describe, expect, it } from "vitest";
import { applyMutant, listMutants } from "./list-mutants.ts";

const mutate = (source: string): string[] => listMutants(source).map((mutant) => applyMutant(source, mutant));

describe("the mutants of a source", () => {
  it("change one condition, operator, literal, or statement each", () => {
    expect(mutate(`if (a) b();`)).toEqual([`if (!(a)) b();`, `if (a) ;`]);
    expect(mutate(`const x = a === 1 && !b;`)).toEqual([
      `const x = ((a) !== (1)) && !b;`,
      `const x = ((a === 1) || (!b));`,
      `const x = a === 2 && !b;`,
      `const x = a === 1 && b;`,
    ]);
    expect(mutate(`function f() { return [a ?? "b"]; }`)).toEqual([
      `function f() { return undefined; }`,
      `function f() { return []; }`,
      `function f() { return [(a)]; }`,
      `function f() { return [a ?? ""]; }`,
    ]);
    expect(mutate(`function f() { return false; }`)).toEqual([`function f() { return true; }`]);
    expect(mutate(`function f() { return undefined; }`)).toEqual([]);
  });

  it("leave types, imports, and names of members alone", () => {
    expect(
      mutate(
        `import { a } from "a"; export * from "b"; export { h } from "i"; type T = "c"; const d: "e" = { f: g };`,
      ),
    ).toEqual([]);
  });

  it("have ids that do not change when other lines do", () => {
    const ids = (source: string): string[] => listMutants(source).map(({ id }) => id);
    expect(ids(`\n\nif (a) b();`)).toEqual(ids(`if (a) b();`));
    expect(new Set(ids(`f(1);\nf(1);`)).size).toBe(4);
  });
});
