/**
 * How problems are solved: by planner and solver (`a2a`), or by one role that answers the complete problem.
 */
export type ExperimentMethod =
  | { readonly kind: "a2a" }
  | {
      readonly kind: "cot" | "direct";
      /** Number of samples. The most frequent answer wins. */ readonly samples: number;
    };

/**
 * Parses `a2a`, `cot`, `direct`, `cot-sc@k`, or `direct-sc@k`, where k is from 2 to 100. Throws a
 * `RangeError` for any other name.
 */
export function parseMethod(name: string): ExperimentMethod {
  if (name === "a2a") return { kind: "a2a" };
  const [, kind, votes] = /^(cot|direct)(?:-sc@([1-9]\d{0,2}))?$/.exec(name) ?? [];
  const samples = Number(votes ?? 1);
  if ((kind === "cot" || kind === "direct") && samples <= 100 && votes !== "1") return { kind, samples };
  throw new RangeError(
    `${JSON.stringify(name)} is not a method. Use a2a, cot, direct, cot-sc@k, or direct-sc@k with k from 2 to 100.`,
  );
}

/** Formats a method for recordings and tables. */
export function formatMethod(method: ExperimentMethod): string {
  if (method.kind === "a2a") return "a2a";
  return method.samples === 1 ? method.kind : `${method.kind}-sc@${method.samples}`;
}
