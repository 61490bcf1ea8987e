import { cut } from "../../cards/index.ts";

const MOST = 500;

/**
 * What was thrown, for people, in a few words. It may stand on a card whatever it is: an error of which no card can be
 * written would leave a task without a reply.
 */
export function errorText(thrown: unknown): string {
  const text = (thrown instanceof Error ? thrown.message : String(thrown)).toWellFormed();
  return text.length > MOST ? `${cut(text, MOST)}…` : text;
}
