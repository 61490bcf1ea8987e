import { serveParentProcessCalls } from "../child-process-rpc.ts";
import { measureGrpcThroughput, sendOneGrpcCall } from "./grpc.ts";
import {
  measureLargeResponse,
  measureSequentialRequests,
  measureStreamTiming,
  measureThroughput,
  sendOnce,
} from "./http-measurements.ts";
import { openSubscribers, waitForSubscriberStreamsToEnd } from "./subscribers.ts";

/** Methods that the process of the load generator offers to the benchmark. */
export type LoadGeneratorMethods = {
  measureThroughput: typeof measureThroughput;
  measureGrpcThroughput: typeof measureGrpcThroughput;
  measureStreamTiming: typeof measureStreamTiming;
  measureLargeResponse: typeof measureLargeResponse;
  measureSequentialRequests: typeof measureSequentialRequests;
  sendOnce: typeof sendOnce;
  sendOneGrpcCall: typeof sendOneGrpcCall;
  openSubscribers: typeof openSubscribers;
  waitForSubscribers: typeof waitForSubscriberStreamsToEnd;
};

serveParentProcessCalls({
  measureThroughput,
  measureGrpcThroughput,
  measureStreamTiming,
  measureLargeResponse,
  measureSequentialRequests,
  sendOnce,
  sendOneGrpcCall,
  openSubscribers,
  waitForSubscribers: waitForSubscriberStreamsToEnd,
} satisfies LoadGeneratorMethods);
