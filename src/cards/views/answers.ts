import type { Card } from "../card/index.ts";
import { allOf, exchangesOf } from "./exchanges.ts";

/** For replies to one of several tasks that the same two had under way: the number of the task. */
export function answersOf(cards: readonly Card[]): Map<Card, number> {
  const places = new Map(cards.map((card, at) => [card, at]));
  const numbers = new Map<Card, number>();
  for (const { roots } of exchangesOf(cards)) {
    const tasks = allOf(roots).flatMap(({ task, reply }) => {
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
