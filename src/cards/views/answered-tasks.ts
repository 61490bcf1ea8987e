import type { MessageCard } from "../message-card/index.ts";
import { flattenDelegations, buildSampleExchanges } from "./sample-exchanges.ts";

/** For replies to one of several tasks that the same two had under way: the number of the task. */
export function mapRepliesToTaskNumbers(cards: readonly MessageCard[]): Map<MessageCard, number> {
  const places = new Map(cards.map((card, at) => [card, at]));
  const numbers = new Map<MessageCard, number>();
  for (const { roots } of buildSampleExchanges(cards)) {
    const tasks = flattenDelegations(roots).flatMap(({ task, reply }) => {
      const from = places.get(task);
      const to = reply && places.get(reply);
      return from === undefined || reply === undefined || to === undefined ? [] : { task, reply, from, to };
    });
    for (const one of tasks) {
      const isBesideAnother = tasks.some(
        (other) =>
          other !== one &&
          other.task.sender === one.task.sender &&
          other.task.recipient === one.task.recipient &&
          other.from < one.to &&
          one.from < other.to,
      );
      if (isBesideAnother) numbers.set(one.reply, one.from + 1);
    }
  }
  return numbers;
}
