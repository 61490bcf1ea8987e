declare module "js-yaml" {
  /** The types of YAML 1.2, without times. */
  export const CORE_SCHEMA: unique symbol;
  /** Parses a text with one document. Throws an error with the line of a mistake. */
  export function load(text: string, options: { schema: typeof CORE_SCHEMA }): unknown;
  /** Parses all documents of a text. */
  export function loadAll(text: string): unknown[];
  /** Returns a value as YAML. */
  export function dump(value: unknown, options: { lineWidth: number }): string;
}
