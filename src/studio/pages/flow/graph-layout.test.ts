import { describe, expect, it } from "vitest";
import { computeGraphLayout, type GraphNode } from "./graph-layout.ts";

const OPTIONS = { nodeWidth: 100, nodeHeight: 40, direction: "down" } as const;

const node = (key: string): GraphNode => ({ key, title: key, lines: [], colorClass: "", description: key });

describe("the layout of a graph", () => {
  it("is the same for all keys, those of JavaScript's objects included", () => {
    const computeWith = (rename: (key: string) => string) => {
      const nodes = ["a", "b", "c"].map((key) => node(rename(key)));
      const edges = [
        ["a", "b"],
        ["a", "c"],
        ["b", "c"],
      ].map(([from = "", to = ""]) => ({
        key: rename(from),
        from: rename(from),
        to: rename(to),
        label: "calls",
        colorClass: "",
      }));
      const layout = computeGraphLayout(nodes, edges, OPTIONS);
      return {
        nodes: layout.nodes.map(({ x, y }) => [x, y]),
        edges: layout.edges.map(({ path, labelX, labelY }) => [path, labelX, labelY]),
      };
    };
    const expected = computeWith((key) => key);
    expect(expected.nodes).toHaveLength(3);
    const unusual = { a: "constructor", b: "__proto__", c: "toString\u0001hasOwnProperty" };
    expect(computeWith((key) => unusual[key as "a" | "b" | "c"])).toEqual(expected);
    expect(computeWith((key) => `${"cab".indexOf(key)}`)).toEqual(expected);
  });
});
