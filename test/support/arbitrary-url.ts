import * as fc from "fast-check";

/**
 * Generates HTTPS URLs with a host, a path, and a query. `fc.webUrl` first builds tables of all Unicode characters,
 * which takes a second of CPU time in each worker.
 */
export const arbitraryUrl: fc.Arbitrary<string> = fc.stringMatching(
  /^https:\/\/[a-z]{1,8}\.[a-z]{2,6}(?:\/[\w.~-]{0,6}){0,3}(?:\?[\w=&+-]{0,8})?$/,
);
