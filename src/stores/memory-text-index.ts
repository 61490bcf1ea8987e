import { foldCurrentTask, type MemoryTaskLog } from "./memory-task-log.ts";
import { listTaskWords, type TextQuery } from "./task-words.ts";

/**
 * The words of the tasks of a memory store, one text per task. A search reads the words of the tasks that meet its other
 * conditions, newest first, until its page is full.
 */
export class MemoryTextIndex {
  /** Stores the current words of a task. */
  indexTask(log: MemoryTaskLog): void {
    const words = listTaskWords(foldCurrentTask(log));
    log.words = words.length > 0 ? `\n${words.join("\n")}\n` : undefined;
  }

  matches({ words: stored }: MemoryTaskLog, { words, prefix }: TextQuery): boolean {
    if (stored === undefined) return false;
    return stored.includes(`\n${prefix}`) && words.every((word) => stored.includes(`\n${word}\n`));
  }
}
