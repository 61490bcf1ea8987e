import type { OffHeapTextStore } from "../data-structures/index.ts";
import type { Task } from "../protocol/index.ts";
import type { MemoryTaskLog } from "./memory-task-log.ts";
import { listTaskWords, type TextQuery } from "./task-words.ts";

/**
 * The words of the tasks of a memory store, one text per task outside of V8's heap. A search reads the words of the tasks
 * that meet its other conditions, newest first, until its page is full.
 */
export class MemoryTextIndex {
  readonly #texts: OffHeapTextStore;
  readonly #readTask: (log: MemoryTaskLog) => Task;

  constructor(texts: OffHeapTextStore, readTask: (log: MemoryTaskLog) => Task) {
    this.#texts = texts;
    this.#readTask = readTask;
  }

  /** Stores the current words of a task. */
  indexTask(log: MemoryTaskLog): void {
    this.deleteWords(log);
    const words = listTaskWords(this.#readTask(log));
    if (words.length > 0) log.words = this.#texts.add(`\n${words.join("\n")}\n`);
  }

  deleteWords(log: MemoryTaskLog): void {
    if (log.words) this.#texts.delete(log.words);
    log.words = undefined;
  }

  matches({ words: text }: MemoryTaskLog, { words, prefix }: TextQuery): boolean {
    if (!text) return false;
    const stored = this.#texts.read(text);
    return stored.includes(`\n${prefix}`) && words.every((word) => stored.includes(`\n${word}\n`));
  }
}
