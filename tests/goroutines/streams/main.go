// Streams of gRPC that a client does not receive from until their end, and healthy twins. Arguments: the pattern, how many, and the dump.
package main

import (
	"context"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"google.golang.org/grpc"
)

type bytes struct{}

func (bytes) Marshal(v interface{}) ([]byte, error)      { return *v.(*[]byte), nil }
func (bytes) Unmarshal(data []byte, v interface{}) error { *v.(*[]byte) = data; return nil }
func (bytes) Name() string                               { return "bytes" }
func (bytes) String() string                             { return "bytes" }

func serve(_ interface{}, stream grpc.ServerStream) error {
	message := []byte("hello")
	if err := stream.RecvMsg(&message); err != nil {
		return err
	}
	for i := 0; i < 3; i++ {
		if err := stream.SendMsg(&message); err != nil {
			return err
		}
	}
	return nil
}

var description = grpc.StreamDesc{StreamName: "Listen", Handler: serve, ServerStreams: true}

// listen opens a stream, and receives its first message.
func listen(ctx context.Context, connection *grpc.ClientConn) grpc.ClientStream {
	stream, err := connection.NewStream(ctx, &description, "/feed.Feed/Listen")
	message := []byte("hello")
	if err == nil {
		err = stream.SendMsg(&message)
	}
	if err == nil {
		err = stream.CloseSend()
	}
	if err == nil {
		err = stream.RecvMsg(&message)
	}
	if err != nil {
		panic(err)
	}
	return stream
}

func drain(stream grpc.ClientStream) {
	var message []byte
	for stream.RecvMsg(&message) != io.EOF {
	}
}

var streams []grpc.ClientStream

func main() {
	count, _ := strconv.Atoi(os.Args[2])
	server := grpc.NewServer(grpc.CustomCodec(bytes{}))
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "feed.Feed", Streams: []grpc.StreamDesc{description}}, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go server.Serve(listener)
	connection, err := grpc.Dial(listener.Addr().String(), grpc.WithInsecure(), grpc.WithCodec(bytes{}))
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	for i := 0; i < count; i++ {
		stream := listen(ctx, connection)
		switch os.Args[1] {
		case "streams-kept":
			streams = append(streams, stream)
		case "streams-drained":
			drain(stream)
		}
	}
	time.Sleep(200 * time.Millisecond)
	runtime.GC()
	runtime.GC()
	file, err := os.Create(os.Args[3])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	file.Close()
	runtime.KeepAlive(cancel)
}
