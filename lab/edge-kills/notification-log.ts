import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { StreamResponse } from "../../src/protocol/index.ts";
import { isTerminalEvent } from "../../test/resilience/cut-streams.ts";

/** The notifications of one task. */
interface TaskNotifications {
  /** Sequence numbers in the order of their first arrival. */
  readonly sequenceNumbers: Set<number>;
  isEnded: boolean;
}

/** A webhook receiver that records the sequence numbers of all notifications. */
export class NotificationLog {
  readonly #server: Server;
  readonly #tasks = new Map<string, TaskNotifications>();
  /** Number of notifications that arrived again, for example because the server died before it stored the progress. */
  repeatedCount = 0;

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  static async start(): Promise<NotificationLog> {
    const log = new NotificationLog();
    log.#server.listen(0, "127.0.0.1");
    await once(log.#server, "listening");
    return log;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Returns the sequence numbers that have arrived for a task. */
  listSequenceNumbers(taskId: string): number[] {
    return [...(this.#tasks.get(taskId)?.sequenceNumbers ?? [])];
  }

  hasEnded(taskId: string): boolean {
    return this.#tasks.get(taskId)?.isEnded ?? false;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body: string;
    try {
      body = Buffer.concat((await request.toArray()) as Buffer[]).toString();
    } catch {
      // A killed sender breaks its connections, and sends the notification again later.
      response.destroy();
      return;
    }
    this.#record(String(request.headers["x-a2a-notification-id"]), JSON.parse(body) as StreamResponse);
    response.writeHead(204).end();
  }

  #record(notificationId: string, event: StreamResponse): void {
    const [taskId = "", seq] = notificationId.split(":");
    const task = this.#tasks.get(taskId) ?? { sequenceNumbers: new Set<number>(), isEnded: false };
    this.#tasks.set(taskId, task);
    if (task.sequenceNumbers.has(Number(seq))) this.repeatedCount++;
    task.sequenceNumbers.add(Number(seq));
    task.isEnded ||= isTerminalEvent(event);
  }
}
