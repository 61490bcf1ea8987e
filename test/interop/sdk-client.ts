import { SendMessageRequest, type Message, type Task } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions, type Client } from "@a2a-js/sdk/client";

/** Creates a client of the official SDK that uses a single transport. */
export function createSdkClient(
  url: string,
  binding: string,
  transport: NonNullable<ClientFactoryOptions["transports"]>[number],
): Promise<Client> {
  const options = { transports: [transport], preferredTransports: [binding] };
  return new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, options),
  ).createFromUrl(url);
}

/** Creates a request with a text message. */
export function createTextRequest(
  text: string,
  about: { taskId?: string; contextId?: string } = {},
): SendMessageRequest {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...about };
  return SendMessageRequest.fromJSON({ message });
}

/** Returns the task in a response, or throws if the response is a message. */
export function requireTask(response: Message | Task): Task {
  if ("status" in response) return response;
  throw new Error("The response is a message instead of a task.");
}

/** Collects all events of a stream. */
export async function collectEvents<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const events: T[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** Returns the text of each artifact. */
export function listArtifactTexts({ artifacts }: Task): string[] {
  return artifacts.map(({ parts }) => parts.map(({ content }) => String(content?.value)).join(""));
}
