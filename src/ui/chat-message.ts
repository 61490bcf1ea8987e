import type { JsonObject, JsonValue, RawPart, UrlPart } from "../protocol/index.ts";

/** A message of a chat. All output of the agent in one turn is one message. */
export interface ChatMessage {
  /** The message id of a user's message. For an agent's message, an id that stays the same after a reload. */
  readonly id: string;
  readonly role: "user" | "agent";
  readonly parts: readonly ChatPart[];
  /** The task of the message. Absent until the agent has accepted the message, and for replies without a task. */
  readonly taskId?: string;
}

/** A part of a chat message. The id of a part is unique within its task, and stays the same after a reload. */
export type ChatPart = TextChatPart | FileChatPart | DataChatPart | SourceChatPart | ToolChatPart;

/** A text of the answer or of the model's reasoning, which grows while the agent writes it. */
export interface TextChatPart {
  readonly type: "text" | "reasoning";
  readonly id: string;
  readonly text: string;
}

/** A file. `file` contains either the content (`raw`) or the address (`url`). */
export interface FileChatPart {
  readonly type: "file";
  readonly id: string;
  readonly file: RawPart | UrlPart;
}

/** Structured data. `metadata` contains the metadata of the A2A part. */
export interface DataChatPart {
  readonly type: "data";
  readonly id: string;
  readonly data: JsonValue;
  readonly metadata?: JsonObject;
}

/** A web page that the agent cites. */
export interface SourceChatPart {
  readonly type: "source";
  readonly id: string;
  readonly url: string;
  readonly title: string;
}

/** A call of a tool by the agent. */
export interface ToolChatPart {
  readonly type: "tool";
  readonly id: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input?: JsonValue;
  readonly state: ToolCallState;
  /** The result of the tool. Absent until the state is `succeeded`. */
  readonly output?: JsonValue;
  readonly approval?: ToolApproval;
}

/** State of a tool call. `approved` and `denied` describe a call whose user has decided about it. */
export type ToolCallState = "running" | "approval-requested" | "approved" | "denied" | "succeeded" | "failed";

/** The agent's request to approve a tool call, and the decision of the user. */
export interface ToolApproval {
  readonly id: string;
  /** The user's decision. Absent while the agent waits for it. */
  readonly approved?: boolean;
  readonly reason?: string;
  /** Name of the ADK function whose response is the decision. Absent for agents that expect `{ approvalId, approved }`. */
  readonly functionName?: string;
}
