import { relative, dirname } from "node:path/posix";
import type { Mutant } from "./list-mutants.ts";

/** Name of the module, in the root of the copy, that knows which mutant is active. */
export const SWITCH_MODULE = "mutant-switch.mjs";

/**
 * Returns a source that contains all of its mutants. Each one is a branch that runs only while
 * `isActiveMutant(key)` returns `true` for its key. `file` is the path of the source from the root.
 */
export function insertMutantSwitches(file: string, source: string, mutants: readonly Mutant[]): string {
  const specifier = relative(dirname(file), SWITCH_MODULE);
  const body = insertSwitches(source, 0, source.length, mutants.toSorted(compareByNesting), (mutant) =>
    JSON.stringify(getMutantKey(file, mutant)),
  );
  return `import { isActiveMutant } from ${JSON.stringify(specifier)};\n${body}`;
}

/** Identifies a mutant among those of all files. */
export function getMutantKey(file: string, { id }: Pick<Mutant, "id">): string {
  return `${file}#${id}`;
}

/** Sorts by position, and outer ranges before the ranges that they contain. */
function compareByNesting(a: Mutant, b: Mutant): number {
  // A statement starts where its expression starts, and may end where the expression ends.
  return (
    a.start - b.start || b.end - a.end || Number(b.kind === "statement") - Number(a.kind === "statement")
  );
}

/** Writes the range of the source with the switches of the mutants, all of which lie inside of the range. */
function insertSwitches(
  source: string,
  start: number,
  end: number,
  mutants: readonly Mutant[],
  renderKey: (mutant: Mutant) => string,
): string {
  let text = "";
  let position = start;
  for (let index = 0; index < mutants.length;) {
    const outer = mutants[index] as Mutant;
    let next = index + 1;
    while (next < mutants.length && (mutants[next] as Mutant).start < outer.end) next++;
    const inner = insertSwitches(source, outer.start, outer.end, mutants.slice(index + 1, next), renderKey);
    text += source.slice(position, outer.start) + renderSwitch(outer, inner, renderKey(outer));
    position = outer.end;
    index = next;
  }
  return text + source.slice(position, end);
}

function renderSwitch({ kind, replacement }: Mutant, original: string, key: string): string {
  const test = `isActiveMutant(${key})`;
  if (kind === "statement") return `{ if (${test}) ${replacement} else ${original} }`;
  if (kind === "spread") return `...(${test} ? [] : ${original.slice("...".length)})`;
  return `(${test} ? (${replacement}) : ${original})`;
}
