import { isObject } from "../protocol/index.ts";

/** The position of a chat that survives a reload. */
export interface ChatPosition {
  readonly contextId: string;
  /** The latest task of the chat. Absent until the agent has accepted a message. */
  readonly taskId?: string;
}

/**
 * Keeps the positions of chats across reloads, for example in a database. If `load` fails, the chat has the status
 * `error`, and loads the position again with the next call. A chat ignores errors of `save`.
 */
export interface ChatStorage {
  load(key: string): ChatPosition | undefined | Promise<ChatPosition | undefined>;
  save(key: string, position: ChatPosition): void | Promise<void>;
}

/** The methods of `sessionStorage` and `localStorage` that `createWebStorage` calls. */
export interface WebStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/**
 * Keeps the positions of chats in `sessionStorage` or `localStorage`. The content of `sessionStorage` belongs to one tab.
 * If the browser refuses to store a position, the chat continues, but cannot resume after a reload.
 */
export function createWebStorage(storage: WebStorage): ChatStorage {
  return {
    load(key) {
      try {
        return decodePosition(JSON.parse(storage.getItem(key) ?? "null"));
      } catch {
        return undefined;
      }
    },
    save(key, position) {
      try {
        storage.setItem(key, JSON.stringify(position));
      } catch {
        // A full or disabled storage is no reason to lose an answer.
      }
    },
  };
}

function decodePosition(value: unknown): ChatPosition | undefined {
  if (!isObject(value)) return undefined;
  const { contextId, taskId } = value;
  if (typeof contextId !== "string") return undefined;
  return typeof taskId === "string" ? { contextId, taskId } : { contextId };
}

/** Returns `sessionStorage`, or `undefined` in runtimes without it and in documents that may not use it. */
export function findSessionStorage(): ChatStorage | undefined {
  try {
    const { sessionStorage } = globalThis as { readonly sessionStorage?: WebStorage };
    return sessionStorage && createWebStorage(sessionStorage);
  } catch {
    return undefined;
  }
}
