import type { MessageCard } from "../message-card/index.ts";
import { flattenDelegations, buildSampleDelegationForests } from "./sample-delegation-forests.ts";

/**
 * Maps replies to task numbers. A reply has an entry only if several tasks between its two roles were pending
 * at the same time.
 */
export function mapConcurrentRepliesToTaskNumbers(cards: readonly MessageCard[]): Map<MessageCard, number> {
  const positions = new Map(cards.map((card, at) => [card, at]));
  const numbers = new Map<MessageCard, number>();
  for (const { roots } of buildSampleDelegationForests(cards)) {
    const tasks = flattenDelegations(roots).flatMap(({ task, reply }) => {
      const from = positions.get(task);
      const to = reply && positions.get(reply);
      return from === undefined || reply === undefined || to === undefined ? [] : { task, reply, from, to };
    });
    for (const one of tasks) {
      const overlapsAnother = tasks.some(
        (other) =>
          other !== one &&
          other.task.sender === one.task.sender &&
          other.task.recipient === one.task.recipient &&
          other.from < one.to &&
          one.from < other.to,
      );
      if (overlapsAnother) numbers.set(one.reply, one.from + 1);
    }
  }
  return numbers;
}
