import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HostileAnswer, HostileRound } from "./hostile-answers.ts";

/** A server that sends the answers of a round. The first segment of the path is the index of the round. */
export class HostileServer {
  readonly #http: Server;
  readonly #getRound: (index: number) => HostileRound;
  /** Number of responses that the server has sent. */
  answerCount = 0;

  private constructor(getRound: (index: number) => HostileRound) {
    this.#getRound = getRound;
    this.#http = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
      incoming.resume();
      const [, index, ...rest] = (incoming.url ?? "").split("/");
      const { card, answer } = this.#getRound(Number(index));
      this.answerCount++;
      const isCard = rest.join("/").includes("card.json");
      sendHostileAnswer(outgoing, isCard ? card : answer, `${this.origin}/${index}`);
    });
  }

  static async start(getRound: (index: number) => HostileRound): Promise<HostileServer> {
    const server = new HostileServer(getRound);
    server.#http.listen(0, "127.0.0.1");
    await once(server.#http, "listening");
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }
}

function sendHostileAnswer(outgoing: ServerResponse, answer: HostileAnswer, origin: string): void {
  const body = Buffer.from(answer.body.replaceAll("$ORIGIN", origin));
  outgoing.on("error", () => {});
  try {
    for (const [name, value] of Object.entries(answer.headers))
      outgoing.setHeader(name, value.replaceAll("$ORIGIN", origin));
    outgoing.writeHead(answer.status, answer.isCut ? { "content-length": body.length + 10 } : {});
  } catch {
    outgoing.destroy();
    return;
  }
  if (answer.isCut) outgoing.write(body, () => outgoing.destroy());
  else outgoing.end(body);
}
