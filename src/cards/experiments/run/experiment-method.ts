/**
 * Method that solves problems, either with a planner and a solver (`a2a`), or with a single role that answers
 * the complete problem.
 */
export type ExperimentMethod =
  | { readonly kind: "a2a" }
  | {
      readonly kind: "cot" | "direct";
      /** Number of model calls per problem. The result is the most frequent of the answers. */
      readonly samples: number;
    };

/**
 * Parses the method name `a2a`, `cot`, `direct`, `cot-sc@k`, or `direct-sc@k`, where k is an integer from 2
 * to 100. Throws a `RangeError` if the method name is unknown.
 */
export function parseExperimentMethod(name: string): ExperimentMethod {
  if (name === "a2a") return { kind: "a2a" };
  const [, kind, votes] = /^(cot|direct)(?:-sc@([1-9]\d{0,2}))?$/.exec(name) ?? [];
  const samples = Number(votes ?? 1);
  if ((kind === "cot" || kind === "direct") && samples <= 100 && votes !== "1") return { kind, samples };
  throw new RangeError(
    `${JSON.stringify(name)} is not a method. Use a2a, cot, direct, cot-sc@k, or direct-sc@k with k from 2 to 100.`,
  );
}

/** Returns the name of a method, such as `cot-sc@5`. */
export function formatExperimentMethod(method: ExperimentMethod): string {
  if (method.kind === "a2a") return "a2a";
  return method.samples === 1 ? method.kind : `${method.kind}-sc@${method.samples}`;
}
