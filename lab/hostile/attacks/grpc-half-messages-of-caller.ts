import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { setUpGrpcServer } from "../grpc-attack-client.ts";
import { sendHalfGrpcMessages } from "../grpc-half-messages.ts";

export const attack: ServerAttack = defineServerAttack({
  title: "1,000 gRPC calls of an authenticated caller send half of a message of 10 MB, on 100 connections",
  setUpServer: setUpGrpcServer,
  run: (target) => sendHalfGrpcMessages(target, target.credentials.stranger),
});
