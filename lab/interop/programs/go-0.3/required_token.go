package main

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// requiredToken is the bearer token of `server --token TOKEN`, or empty.
var requiredToken = readRequiredToken()

func readRequiredToken() string {
	if index := slices.Index(os.Args, "--token"); index >= 0 {
		return os.Args[index+1]
	}
	return ""
}

// requireToken answers 401 to requests without the token. The agent card is public.
func requireToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		isPublic := requiredToken == "" || strings.HasPrefix(request.URL.Path, "/.well-known/")
		if !isPublic && request.Header.Get("Authorization") != "Bearer "+requiredToken {
			answer.Header().Set("WWW-Authenticate", "Bearer")
			answer.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(answer, request)
	})
}

// requireCallToken refuses unary calls without the token.
func requireCallToken(
	ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	sent := metadata.ValueFromIncomingContext(ctx, "authorization")
	if requiredToken != "" && !slices.Contains(sent, "Bearer "+requiredToken) {
		return nil, status.Error(codes.Unauthenticated, "The token is wrong.")
	}
	return next(ctx, request)
}
