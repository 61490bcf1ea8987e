/** Names of the gRPC status codes, in the order of their numbers. */
const GRPC_STATUS_NAMES =
  "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(
    " ",
  );

export const GRPC_STATUS = {
  UNKNOWN: 2,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** gRPC statuses for HTTP statuses, as gRPC clients map the responses of proxies. */
const STATUS_BY_HTTP_STATUS: ReadonlyMap<number, number> = new Map<number, number>([
  [401, GRPC_STATUS.UNAUTHENTICATED],
  [403, GRPC_STATUS.PERMISSION_DENIED],
  [429, GRPC_STATUS.RESOURCE_EXHAUSTED],
  [502, GRPC_STATUS.UNAVAILABLE],
  [503, GRPC_STATUS.UNAVAILABLE],
  [504, GRPC_STATUS.UNAVAILABLE],
]);

export function toGrpcStatusCode(httpStatus: number): number {
  return STATUS_BY_HTTP_STATUS.get(httpStatus) ?? GRPC_STATUS.UNKNOWN;
}

/** Returns the name of a status code, such as `UNAVAILABLE`. */
export function formatGrpcStatus(code: number): string {
  return GRPC_STATUS_NAMES[code] ?? "UNKNOWN";
}
