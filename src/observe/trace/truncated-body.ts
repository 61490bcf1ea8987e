import { isObject } from "../../protocol/index.ts";

/** Member of the object that replaces a body that is longer than the limit of the writer. */
export const TRUNCATED_BODY_KEY = "colloquy:truncated";

/** Returns whether a traffic writer has shortened a body, so that the body has no texts and files. */
export function isTruncatedBody(body: unknown): boolean {
  return isObject(body) && Object.hasOwn(body, TRUNCATED_BODY_KEY);
}
