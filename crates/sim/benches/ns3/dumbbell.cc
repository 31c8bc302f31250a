// One flow through a bottleneck in ns-3, for `make bench-sim`: client - router - router - server.
// Prints the data segments that the bottleneck carried and the bytes that arrived.
//
//   dumbbell --rate=100Mbps --rtt=20ms --queue=173p --seconds=60

#include <iostream>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

static uint64_t segments = 0;
static uint64_t drops = 0;

static void
Sent(Ptr<const Packet> packet)
{
    // Acknowledgements go the other way.
    segments += packet->GetSize() > 1000 ? 1 : 0;
}

static void
Dropped(Ptr<const Packet>)
{
    drops += 1;
}

int
main(int argc, char** argv)
{
    std::string rate = "100Mbps";
    std::string queue = "173p";
    Time rtt = MilliSeconds(20);
    double seconds = 60;
    CommandLine line;
    line.AddValue("rate", "of the bottleneck", rate);
    line.AddValue("queue", "of the bottleneck", queue);
    line.AddValue("rtt", "without queueing", rtt);
    line.AddValue("seconds", "of sending", seconds);
    line.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 26));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 26));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    NodeContainer nodes;
    nodes.Create(4);
    PointToPointHelper edge;
    edge.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    edge.SetChannelAttribute("Delay", TimeValue(NanoSeconds(1)));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue(rate));
    bottleneck.SetChannelAttribute("Delay", TimeValue(rtt / 2));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    NetDeviceContainer first = edge.Install(nodes.Get(0), nodes.Get(1));
    NetDeviceContainer middle = bottleneck.Install(nodes.Get(1), nodes.Get(2));
    NetDeviceContainer last = edge.Install(nodes.Get(2), nodes.Get(3));

    InternetStackHelper internet;
    internet.Install(nodes);
    Ipv4AddressHelper address;
    Ipv4InterfaceContainer server;
    const char* networks[] = {"10.1.1.0", "10.1.2.0", "10.1.3.0"};
    NetDeviceContainer devices[] = {first, middle, last};
    for (int i = 0; i < 3; i++)
    {
        address.SetBase(networks[i], "255.255.255.0");
        server = address.Assign(devices[i]);
    }
    // The queue of the device alone holds packets back.
    TrafficControlHelper control;
    for (auto& both : devices)
    {
        control.Uninstall(both);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(server.GetAddress(1), 5001));
    source.SetAttribute("SendSize", UintegerValue(65536));
    ApplicationContainer sending = source.Install(nodes.Get(0));
    sending.Start(Seconds(0));
    sending.Stop(Seconds(seconds));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    ApplicationContainer receiving = sink.Install(nodes.Get(3));
    receiving.Start(Seconds(0));

    Ptr<NetDevice> device = middle.Get(0);
    device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Sent));
    device->GetObject<PointToPointNetDevice>()->GetQueue()->TraceConnectWithoutContext(
        "Drop",
        MakeCallback(&Dropped));

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << segments << " segments " << drops << " drops "
              << DynamicCast<PacketSink>(receiving.Get(0))->GetTotalRx() << " bytes\n";
    Simulator::Destroy();
    return 0;
}
