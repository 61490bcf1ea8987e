/** How problems are solved: by planner and solver (`a2a`), or by one who answers the whole problem at once. */
export type ExperimentMethod =
  | { readonly kind: "a2a" }
  | { readonly kind: "cot" | "direct"; /** Of which the majority counts. */ readonly samples: number };

/** Reads `a2a`, `cot`, `direct`, `cot-sc@k` and `direct-sc@k`, where k is from 2 to 100. Throws RangeError. */
export function parseMethod(name: string): ExperimentMethod {
  if (name === "a2a") return { kind: "a2a" };
  const [, kind, votes] = /^(cot|direct)(?:-sc@([1-9]\d{0,2}))?$/.exec(name) ?? [];
  const samples = Number(votes ?? 1);
  if ((kind === "cot" || kind === "direct") && samples <= 100 && votes !== "1") return { kind, samples };
  throw new RangeError(
    `${JSON.stringify(name)} is no method; there are a2a, cot, direct, cot-sc@k and direct-sc@k with k from 2 to 100.`,
  );
}

/** As it stands in records and tables. */
export function formatMethod(method: ExperimentMethod): string {
  if (method.kind === "a2a") return "a2a";
  return method.samples === 1 ? method.kind : `${method.kind}-sc@${method.samples}`;
}
