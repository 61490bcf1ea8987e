declare module "js-yaml" {
  /** Parses all documents of a text. */
  export function loadAll(text: string): unknown[];
}
