import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { removeGuard, type Guard } from "./guard.ts";
import { GUARDS } from "./guards.ts";

const ROOT = new URL("../../../", import.meta.url);

describe("the guards of npm run lab -- hostile", () => {
  it("have names of their own", () => {
    const names = GUARDS.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(GUARDS.map((guard) => [guard.name, guard] as const))(
    "exist in the source, and have an attack or a test: %s",
    (_, guard) => {
      const source = readFileSync(new URL(guard.file, ROOT), "utf8");
      expect(removeGuard(source, guard)).not.toBe(source);
      const { noticedBy } = guard;
      const noticing = "attack" in noticedBy ? `lab/hostile/attacks/${noticedBy.attack}.ts` : noticedBy.test;
      expect(existsSync(new URL(noticing, ROOT))).toBe(true);
    },
  );

  it("cannot be removed if their text is outdated or ambiguous", () => {
    const guard: Guard = {
      name: "g",
      file: "f.ts",
      find: "check();",
      replace: "",
      noticedBy: { attack: "a" },
    };
    expect(removeGuard("before; check(); after;", guard)).toBe("before;  after;");
    expect(() => removeGuard("before; after;", guard)).toThrow("exactly once");
    expect(() => removeGuard("check(); check();", guard)).toThrow("exactly once");
  });
});
