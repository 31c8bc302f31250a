// One flow through a bottleneck in ns-3, for `make bench-sim`: client and server, and between them
// a line with a drop-tail queue. Prints the data segments that the bottleneck carried, and the
// seconds of processor time and of real time that the simulation took.
//
//   flow --rate=100Mbps --rtt=20ms --queue=167p --seconds=60 --buffer=67108864

#include <chrono>
#include <ctime>
#include <iostream>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

static uint64_t segments = 0;

static void
Sent(Ptr<const Packet> packet)
{
    // Acknowledgements go the other way.
    segments += packet->GetSize() > 1000 ? 1 : 0;
}

int
main(int argc, char** argv)
{
    std::string rate = "100Mbps";
    std::string queue = "167p";
    Time rtt = MilliSeconds(20);
    double seconds = 60;
    uint32_t buffer = 1 << 26;
    CommandLine line;
    line.AddValue("rate", "of the bottleneck", rate);
    line.AddValue("queue", "of the bottleneck", queue);
    line.AddValue("rtt", "without queueing", rtt);
    line.AddValue("seconds", "of sending", seconds);
    line.AddValue("buffer", "of both ends, bytes", buffer);
    line.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue(rate));
    bottleneck.SetChannelAttribute("Delay", TimeValue(rtt / 2));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    NetDeviceContainer devices = bottleneck.Install(nodes);

    InternetStackHelper internet;
    internet.Install(nodes);
    Ipv4AddressHelper address("10.1.1.0", "255.255.255.0");
    Ipv4InterfaceContainer addresses = address.Assign(devices);
    // The queue of the device alone holds packets back.
    TrafficControlHelper control;
    control.Uninstall(devices);

    BulkSendHelper source("ns3::TcpSocketFactory",
                          InetSocketAddress(addresses.GetAddress(1), 5001));
    source.SetAttribute("SendSize", UintegerValue(65536));
    ApplicationContainer sending = source.Install(nodes.Get(0));
    sending.Start(Seconds(0));
    sending.Stop(Seconds(seconds));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    ApplicationContainer receiving = sink.Install(nodes.Get(1));
    receiving.Start(Seconds(0));

    devices.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Sent));

    Simulator::Stop(Seconds(seconds));
    std::clock_t used = std::clock();
    auto began = std::chrono::steady_clock::now();
    Simulator::Run();
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::cout << segments << " " << double(std::clock() - used) / CLOCKS_PER_SEC << " "
              << took.count() << "\n";
    Simulator::Destroy();
    return 0;
}
