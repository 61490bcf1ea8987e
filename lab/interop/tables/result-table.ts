import type { InteropResult } from "../interop-result.ts";

/** A row for each peer, direction, and variant, and a column for each scenario. */
export interface ResultTable {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly (InteropResult | undefined)[] }[];
}

export function toResultTable(results: readonly InteropResult[]): ResultTable {
  const columns = [...new Set(results.map(({ scenario }) => scenario))];
  const rows = Map.groupBy(results, getRowName);
  return {
    columns,
    rows: [...rows].map(([name, row]) => ({
      name,
      cells: columns.map((column) => row.find(({ scenario }) => scenario === column)),
    })),
  };
}

function getRowName({ sdk, direction, variant }: InteropResult): string {
  const [caller, callee] = {
    "their client": [sdk, "Colloquy"],
    "our client": ["Colloquy", sdk],
    "own server": [sdk, sdk],
  }[direction] as [string, string];
  return `${caller} → ${callee}${variant === undefined ? "" : `, ${variant}`}`;
}

/** Returns the package and the version of the peer from the name of a row. */
export function parseRowPeer(rowName: string): string {
  const [callers = "", callee = ""] = rowName.split(" → ");
  return callers === "Colloquy" ? (callee.split(", ")[0] ?? "") : callers;
}
