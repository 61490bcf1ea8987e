import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { closePipelinedResponseWithConnection } from "./node-adapter.ts";

it("a response that waits for an earlier response of its connection closes once, together with the connection", async () => {
  const socket = new Socket();
  const incoming = new IncomingMessage(socket);
  const responses = [new ServerResponse(incoming), new ServerResponse(incoming)];
  const closed: number[] = [];
  for (const [at, response] of responses.entries()) {
    closePipelinedResponseWithConnection(incoming, response);
    response.on("close", () => closed.push(at));
  }
  expect(socket.listenerCount("close")).toBe(1);
  await new Promise((resolve) => socket.once("close", resolve).destroy());
  expect(closed).toEqual([0, 1]);
  expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});
