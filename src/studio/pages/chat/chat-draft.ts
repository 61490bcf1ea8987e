import { type Signal, signal } from "@preact/signals";
import type { Part } from "../../../protocol/index.ts";

/** A message that another screen prepares for the chat. */
export interface ChatDraft {
  readonly agentId: string;
  readonly parts: readonly Part[];
  readonly contextId?: string | undefined;
  readonly referenceTaskIds: readonly string[];
}

/** The prepared message, until the chat takes it. */
export const chatDraft: Signal<ChatDraft | undefined> = signal(undefined);

/** Route of the last conversation, to which the menu leads. */
export const lastChatRoute: Signal<string | undefined> = signal(undefined);
