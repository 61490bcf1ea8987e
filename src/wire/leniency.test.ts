import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { LENIENCIES } from "./leniency.ts";

it("the page docs/interop.md lists every accepted deviation with its peers", () => {
  const page = readFileSync(new URL("../../docs/interop.md", import.meta.url), "utf8");
  const rows = page.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm);
  const listed = Object.fromEntries(Array.from(rows, ([, name = "", peer = ""]) => [name, peer.trim()]));
  expect(listed).toEqual(LENIENCIES);
});
