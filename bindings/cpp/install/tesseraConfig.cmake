# find_package(tessera): the target tessera::tessera, which is tessera::shared where BUILD_SHARED_LIBS is on, else
# tessera::static.

if(TARGET tessera::tessera)
  return()
endif()
find_package(Threads REQUIRED)
get_filename_component(TESSERA_LIBRARIES "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(TESSERA_PREFIX "${TESSERA_LIBRARIES}/.." ABSOLUTE)
foreach(kind STATIC SHARED)
  string(TOLOWER ${kind} name)
  add_library(tessera::${name} ${kind} IMPORTED)
  set_target_properties(tessera::${name} PROPERTIES
    IMPORTED_LOCATION
      ${TESSERA_LIBRARIES}/${CMAKE_${kind}_LIBRARY_PREFIX}tessera${CMAKE_${kind}_LIBRARY_SUFFIX}
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES ${TESSERA_PREFIX}/include
    INTERFACE_COMPILE_FEATURES cxx_std_17
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endforeach()
add_library(tessera::tessera INTERFACE IMPORTED)
if(BUILD_SHARED_LIBS)
  set_target_properties(tessera::tessera PROPERTIES INTERFACE_LINK_LIBRARIES tessera::shared)
else()
  set_target_properties(tessera::tessera PROPERTIES INTERFACE_LINK_LIBRARIES tessera::static)
endif()
