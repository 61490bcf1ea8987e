import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { InteropResult } from "./interop-result.ts";
import { parseRowPeer } from "./tables/result-table.ts";
import { updateInteropPage, type InteropRun } from "./tables/write-interop-page.ts";

const PEERS = ["a2a-go 2.4.0", "a2a-go 0.3.15", "a2a-sdk 1.3.0"];
const EXPECTED = [
  { test: "cancel", runs: ["go, our client"], reason: "Go's server rejects the request." },
  {
    test: "stream",
    runs: ["python, our client"],
    reason: `Python's server ${"is slow and ".repeat(12)}stops.`,
  },
];

const emptyPage = (skipped: string): string =>
  `# Page\n\n<!-- table: SDKs -->\n<!-- end -->\n\nText.\n\n<!-- skipped -->\n\n${skipped}\n\n<!-- end -->\n`;

function createResult(peer: string, sdk: string, scenario: string, ok = true): InteropResult {
  return { suite: "SDKs", peer, sdk, direction: "our client", scenario, ok };
}

const GO = [createResult("go", "a2a-go 2.4.0", "send"), createResult("go", "a2a-go 2.4.0", "cancel", false)];
const PYTHON = [
  createResult("python", "a2a-sdk 1.3.0", "send"),
  createResult("python", "a2a-sdk 1.3.0", "stream", false),
  createResult("python", "a2a-sdk 1.3.0", "cancel"),
];

function update(
  page: string,
  date: string,
  results: readonly InteropResult[],
  rest?: Partial<InteropRun>,
): string {
  return updateInteropPage(page, { results, skipped: [], date, peers: PEERS, ...rest }, EXPECTED);
}

const listRows = (page: string): string[] => page.split("\n").filter((line) => line.includes(" → "));

describe("the tables of the interoperability page", () => {
  it("keep the rows of peers that did not run, with their dates and the reasons of their failures", () => {
    const first = update(emptyPage("All peers were available."), "2026-01-01", GO);
    const second = update(first, "2026-02-02", PYTHON);
    expect(listRows(second)).toEqual([
      "| from → to | send | cancel | stream | run |",
      "| Colloquy → a2a-go 2.4.0 | ok | peer (1) | – | 2026-01-01 |",
      "| Colloquy → a2a-sdk 1.3.0 | ok | ok | peer (2) | 2026-02-02 |",
    ]);
    expect(second).toContain("\n1. Go's server rejects the request.\n2. Python's server is slow and");
    const third = update(second, "2026-03-03", GO.slice(0, 1));
    expect(listRows(third)).toEqual([
      "| from → to | send | cancel | stream | run |",
      "| Colloquy → a2a-go 2.4.0 | ok | – | – | 2026-03-03 |",
      "| Colloquy → a2a-sdk 1.3.0 | ok | ok | peer (1) | 2026-02-02 |",
    ]);
    expect(third.replaceAll(/\n +/g, " ")).toContain(`\n\n1. ${EXPECTED[1]?.reason}\n\n<!-- end -->`);
    expect(third).not.toContain("Go's server");
  });

  it("keep the rows of an earlier version until each listed version of the package has rows", () => {
    const first = update(emptyPage(""), "2026-01-01", GO, { peers: ["a2a-go 2.4.0"] });
    const upgraded = update(first, "2026-02-02", PYTHON, { peers: ["a2a-go 2.5.0", "a2a-sdk 1.3.0"] });
    expect(listRows(upgraded)[1]).toBe("| Colloquy → a2a-go 2.4.0 | ok | peer (1) | – | 2026-01-01 |");
    const rerun = [createResult("go", "a2a-go 2.5.0", "send")];
    const last = update(upgraded, "2026-03-03", rerun, { peers: ["a2a-go 2.5.0", "a2a-sdk 1.3.0"] });
    expect(listRows(last)).toEqual([
      "| from → to | send | cancel | stream | run |",
      "| Colloquy → a2a-go 2.5.0 | ok | – | – | 2026-03-03 |",
      "| Colloquy → a2a-sdk 1.3.0 | ok | ok | peer (1) | 2026-02-02 |",
    ]);
  });

  it("show an unlisted failure in bold, and the missing feature of a scenario that did not run", () => {
    const results = [
      createResult("python", "a2a-sdk 1.3.0", "send", false),
      { ...createResult("python", "a2a-sdk 1.3.0", "cancel"), missing: "no cancel" },
      { ...createResult("python", "a2a-sdk 1.3.0", "send", false), direction: "own server" as const },
    ];
    const page = update(emptyPage(""), "2026-01-01", results);
    expect(listRows(page).slice(1)).toEqual([
      "| Colloquy → a2a-sdk 1.3.0 | **fails** | no cancel | 2026-01-01 |",
      "| a2a-sdk 1.3.0 → a2a-sdk 1.3.0 | fails | – | 2026-01-01 |",
    ]);
    expect(update(page, "2026-02-02", [])).toBe(page);
  });

  it("of docs/interop.md do not change in a run without peers", () => {
    const page = readFileSync(new URL("../../docs/interop.md", import.meta.url), "utf8");
    const rows = page.split("\n").filter((line) => /^\| (?!from).* → /.test(line));
    const peers = rows.map((line) => parseRowPeer(line.slice(2).split(" | ")[0] ?? ""));
    expect(peers).toContain("google-adk 2.13.0");
    expect(updateInteropPage(page, { results: [], skipped: [], date: "2026-01-01", peers }, [])).toBe(page);
  });
});

describe("the list of skipped peers", () => {
  it("contains the skipped peers of all runs, and the peers that have not run", () => {
    const first = update(emptyPage("All peers were available."), "2026-01-01", PYTHON, {
      skipped: [{ peer: "a2a-go 2.4.0", why: "there is no Go (go)" }],
    });
    expect(first).toContain("\n- a2a-go 2.4.0: there is no Go (go)\n- a2a-go 0.3.15: it has not run yet\n");
    const second = update(first, "2026-02-02", [createResult("go-0.3", "a2a-go 0.3.15", "send")]);
    expect(second).toContain("<!-- skipped -->\n\n- a2a-go 2.4.0: there is no Go (go)\n\n<!-- end -->");
    const third = update(second, "2026-03-03", GO);
    expect(third).toContain("<!-- skipped -->\n\nAll peers were available.\n\n<!-- end -->");
  });
});
