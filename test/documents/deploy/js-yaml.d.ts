declare module "js-yaml" {
  /** The types of YAML 1.2, without times. */
  export const CORE_SCHEMA: unique symbol;
  /** Parses a text with one document. */
  export function load(text: string, options: { schema: typeof CORE_SCHEMA }): unknown;
  /** Parses all documents of a text. */
  export function loadAll(text: string): unknown[];
}
