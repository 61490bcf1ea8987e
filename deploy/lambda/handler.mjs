/**
 * An AWS Lambda function that serves agents at a function URL with response streaming. See docs/deploy/README.md.
 *
 * Lambda provides the global `awslambda`. Node.js 24 strips the types of the imported agent file.
 */
import { setTimeout as pause } from "node:timers/promises";
import { pipeline } from "node:stream/promises";
import { createServer } from "colloquy";
import { bearer } from "colloquy/auth";
import hello from "./agents/hello.ts";

const { DATABASE_URL, COLLOQUY_TOKEN } = process.env;
const server = createServer(
  { hello },
  { store: DATABASE_URL, authenticate: bearer({ tokens: { [COLLOQUY_TOKEN]: { principal: "caller" } } }) },
);

/** Time in milliseconds before the limit of the function at which the invocation ends. */
const RESERVE_MS = 2000;

export const handler = awslambda.streamifyResponse(async (event, responseStream, context) => {
  const work = [];
  const response = await server.fetch(toRequest(event), {
    remoteAddress: event.requestContext.http.sourceIp,
    waitUntil: (promise) => work.push(promise),
  });
  const { status: statusCode, headers } = response;
  const stream = awslambda.HttpResponseStream.from(responseStream, {
    statusCode,
    headers: Object.fromEntries(headers),
  });
  // The first write sends the status and the headers. Lambda never ends a response without a write.
  stream.write("");
  // Lambda does not stop the function when the caller disconnects.
  await pipeline(response.body ?? [], stream).catch(() => {});
  // Lambda freezes the process after the invocation, so that agents would stop.
  const timeLimit = new AbortController();
  const remainingMs = context.getRemainingTimeInMillis() - RESERVE_MS;
  await Promise.race([
    Promise.all(work),
    pause(remainingMs, undefined, { signal: timeLimit.signal }).catch(() => {}),
  ]);
  timeLimit.abort();
});

/** Converts an event of a function URL (payload format 2.0) to a request. */
function toRequest({ rawPath, rawQueryString, headers, body, isBase64Encoded, requestContext }) {
  const { method } = requestContext.http;
  const query = rawQueryString === "" ? "" : `?${rawQueryString}`;
  return new Request(`https://${requestContext.domainName}${rawPath}${query}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: isBase64Encoded ? Buffer.from(body, "base64") : body }),
  });
}
