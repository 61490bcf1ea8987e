import { parseHttpResponse } from "./http-response.ts";

/** Returns the first problem of a response to `ListTasks`, or `undefined` if the total size is correct. */
export function findTaskListFault(bytes: Buffer, expectedTotalSize: number): string | undefined {
  const { body } = parseHttpResponse(bytes);
  const { result, error } = JSON.parse(body) as { result?: { totalSize: number }; error?: unknown };
  if (!result) return `the response contains an error: ${JSON.stringify(error)}`;
  if (result.totalSize === expectedTotalSize) return undefined;
  return `the total size is ${result.totalSize}, not ${expectedTotalSize}`;
}
