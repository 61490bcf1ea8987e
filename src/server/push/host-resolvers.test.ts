import { createSocket } from "node:dgram";
import { describe, expect, it, onTestFinished } from "vitest";
import { createNameServerResolver } from "./dns-lookup-queue.ts";

const TYPE_A = 1;
const ADDRESS = [192, 0, 2, 7];

/** Starts a name server that knows one IPv4 address for every name, except for names that start with "hangs". */
async function startNameServer(): Promise<string> {
  const server = createSocket("udp4");
  server.on("message", (query, { port, address }) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const type = question.readUInt16BE(question.length - 4);
    if (question.toString("latin1", 1, 6) === "hangs") return;
    const answer =
      type === TYPE_A ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, ...ADDRESS]) : Buffer.alloc(0);
    const header = Buffer.from([
      ...query.subarray(0, 2),
      0x81,
      0x80,
      0,
      1,
      0,
      type === TYPE_A ? 1 : 0,
      0,
      0,
      0,
      0,
    ]);
    server.send(Buffer.concat([header, question, answer]), port, address);
  });
  await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${server.address().port}`;
}

describe("the resolver that queries name servers", () => {
  it("returns the addresses of a name", async () => {
    const resolve = createNameServerResolver([await startNameServer()]);
    expect(await resolve("hooks.example.com")).toEqual([ADDRESS.join(".")]);
  });

  it("ends a query that no name server answers", async () => {
    const resolve = createNameServerResolver([await startNameServer()], 200);
    await expect(resolve("hangs.example.com")).rejects.toMatchObject({
      code: expect.stringMatching(/ETIMEOUT|ECANCELLED/) as string,
    });
  });
});
