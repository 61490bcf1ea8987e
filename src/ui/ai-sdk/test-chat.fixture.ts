import {
  AbstractChat,
  type ChatState,
  type ChatStatus,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";
import { A2AChatTransport, type A2AChatTransportOptions } from "./index.ts";

/** The state of `useChat`, without React. */
class TestChatState implements ChatState<UIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined;
  messages: UIMessage[];
  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }
  pushMessage = (message: UIMessage): void =>
    void (this.messages = [...this.messages, structuredClone(message)]);
  popMessage = (): void => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <T>(value: T): T => structuredClone(value);
}

/** The chat of `useChat`, without React. */
export class TestChat extends AbstractChat<UIMessage> {}

/** Opens the chat with the id `chat-1`, with its stored messages. */
export async function openTestChat(url: string, options: A2AChatTransportOptions = {}): Promise<TestChat> {
  const transport = new A2AChatTransport(url, options);
  return new TestChat({
    id: "chat-1",
    transport,
    state: new TestChatState(await transport.loadMessages("chat-1")),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
}
