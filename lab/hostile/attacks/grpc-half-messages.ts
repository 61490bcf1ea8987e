import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { setUpGrpcServer } from "../grpc-attack-client.ts";
import { sendHalfGrpcMessages } from "../grpc-half-messages.ts";

export const attack: ServerAttack = defineServerAttack({
  title: "1,000 gRPC calls without credentials send half of a message of 10 MB, on 100 connections",
  setUpServer: setUpGrpcServer,
  run: (target) => sendHalfGrpcMessages(target),
});
