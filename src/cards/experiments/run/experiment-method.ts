import type { Role } from "../../roles/index.ts";

/**
 * Method that solves problems: with a planner and a solver (`a2a`), with a single role that answers the complete
 * problem, or with your own role.
 */
export type ExperimentMethod =
  | { readonly kind: "a2a" }
  | {
      readonly kind: "cot" | "direct";
      /** Number of answers per problem. The result is the most frequent of the answers. */
      readonly samples: number;
      /** Number of rounds of a debate, in which each answer can change after the others are known. Default: 1. */
      readonly rounds?: number;
    }
  | {
      readonly kind: "role";
      /** Name of the method in recordings. */
      readonly name: string;
      /** Role that receives each complete problem. */
      readonly role: Role;
    };

/**
 * Parses the method name `a2a`, `cot`, `direct`, `cot-sc@k`, `direct-sc@k`, or `debate@k`, where k is an integer from 2
 * to 100. A debate has two rounds of k chains of thought. Throws a `RangeError` if the method name is unknown.
 */
export function parseExperimentMethod(name: string): ExperimentMethod {
  if (name === "a2a") return { kind: "a2a" };
  const [, word = "", votes] = /^(cot|direct|cot-sc|direct-sc|debate)(?:@([1-9]\d{0,2}))?$/.exec(name) ?? [];
  const samples = Number(votes ?? 1);
  if (votes === undefined && (word === "cot" || word === "direct")) return { kind: word, samples };
  if (samples > 1 && samples <= 100) {
    if (word === "cot-sc" || word === "direct-sc")
      return { kind: word === "cot-sc" ? "cot" : "direct", samples };
    if (word === "debate") return { kind: "cot", samples, rounds: 2 };
  }
  throw new RangeError(
    `${JSON.stringify(name)} is not a method. Use a2a, cot, direct, cot-sc@k, direct-sc@k, or debate@k with k from 2 to 100.`,
  );
}

/** Returns the name of a method, such as `cot-sc@5`. */
export function formatExperimentMethod(method: ExperimentMethod): string {
  if (method.kind === "a2a") return "a2a";
  if (method.kind === "role") return method.name;
  if (method.rounds !== undefined && method.rounds > 1) return `debate@${method.samples}`;
  return method.samples === 1 ? method.kind : `${method.kind}-sc@${method.samples}`;
}
