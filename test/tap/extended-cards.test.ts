/** Tests the extended agent cards of the official JavaScript SDK through the tap, and from a replay. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningTestServer } from "../../src/client/a2a-client.contract.ts";
import { serveWithOfficialSdk } from "../../src/client/a2a-js-server.fixture.ts";
import { connect, type A2AClient } from "../../src/client/index.ts";
import { collectRecordedAgents, startReplay } from "../../src/studio/tap/index.ts";
import { collectEvents } from "../interop/sdk-client.ts";
import { startTestTap, waitForLines, type RecordingTestTap } from "./tapped-record.ts";

const EXTENDED_SKILLS = [{ id: "more", name: "More", description: "Obeys more", tags: ["test"] }];

let server: RunningTestServer;
let tap: RecordingTestTap;
beforeAll(async () => {
  server = await serveWithOfficialSdk({ extendedSkills: EXTENDED_SKILLS });
  tap = await startTestTap([server.url]);
});
afterAll(async () => {
  await tap.close();
  await server.close();
});

const listAddresses = ({ card }: A2AClient): string[] =>
  [...new Set(card.supportedInterfaces.map(({ url }) => URL.parse(url)?.host || url))].toSorted();

describe.each([
  ["JSONRPC", "1.0"],
  ["HTTP+JSON", "1.0"],
  ["GRPC", "1.0"],
  ["JSONRPC", "0.3"],
  ["GRPC", "0.3"],
] as const)("an extended agent card over %s in A2A %s", (binding, version) => {
  it("leads to the tap, and then to the replay", async () => {
    const client = await connect(tap.url, { binding, version });
    const tapAddresses = listAddresses(client);
    expect(tapAddresses).toHaveLength(2);
    const card = await client.getExtendedCard();
    expect(card.skills).toEqual(EXTENDED_SKILLS);
    expect(listAddresses(client)).toEqual(tapAddresses);
    const events = await collectEvents(client.stream("count"));
    expect(events.length).toBeGreaterThan(0);

    const lines = await waitForLines(tap, (all) =>
      all.some((line) => line.kind === "response" && line.body !== undefined),
    );
    const requests = lines.filter((line) => line.kind === "request");
    expect(requests.at(-1)).toMatchObject({ binding, operation: "SendStreamingMessage", to: "Obedient" });
    const [agent] = collectRecordedAgents(lines.map((line) => ({ type: "traffic", line })));
    if (!agent) throw new Error("The record contains no agent.");
    const replay = await startReplay(agent, { speed: "max" });
    const replayClient = await connect(replay.url, { binding, version });
    const replayAddresses = listAddresses(replayClient);
    expect(new Set(replayAddresses)).toEqual(new Set([replay.grpcAddress, new URL(replay.url).host]));
    expect((await replayClient.getExtendedCard()).skills).toEqual(EXTENDED_SKILLS);
    expect(listAddresses(replayClient)).toEqual(replayAddresses);
    await replay.close();
  });
});
